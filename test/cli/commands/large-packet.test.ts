import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonValue } from '../../../src/core/json.js';
import { quotedText } from '../../../src/core/readable-text.js';
import { groupSpans } from '../../../src/export/otlp/span-batches.js';
import { requestJson } from '../../../src/export/otlp/otlp-json.js';
import type { Attribute } from '../../../src/heph/packet.js';
import { dumpLine, dumpObject } from '../../../src/heph/read/dump.js';
import { readSpans } from '../../../src/spans/index.js';
import type { SpanRecord } from '../../../src/spans/span-record.js';
import { drawn } from '../../export/perfetto/drawn-events.js';
import { encodeSpan } from '../../export/span-file.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import { encodeEpoch, encodeEvent, someEvent } from '../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { main } from '../run-command.js';

const directory = temporaryDirectory();
/** Prints the most memory that the process has had, in KiB. */
const SAYING = `data:text/javascript,process.once('exit', () => {
  process.stderr.write(String(process.resourceUsage().maxRSS));
})`;

interface Output {
  status: number | null;
  /** Where its standard output is. */
  stdout: string;
  stderr: string;
}

function output(path: string, ...command: string[]): Output {
  const out = `${path}.txt`;
  const fd = openSync(out, 'w');
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', SAYING, main, ...command, path],
    { stdio: ['ignore', fd, 'pipe'], encoding: 'utf8' },
  );
  closeSync(fd);
  return { status, stdout: out, stderr };
}

const dump = (path: string, json: boolean): Output =>
  output(path, 'dump', ...(json ? ['--json'] : []));

/** A file of one event of 62 MB: arrays follow what it says. */
function writeLarge(name: string, head: Buffer): { path: string; size: number } {
  const path = join(directory, name);
  const values = Buffer.alloc(65_535 * 8, 1);
  const attributes = Array.from({ length: 120 }, (_, n) => {
    const array = `\x00\x03${n.toString(36).padStart(3, '0')}\x81\xff\xff`;
    return [Buffer.from(array, 'latin1'), values];
  }).flat();
  const event = Buffer.concat([head, ...attributes]);
  event.writeUInt32BE(event.length, 4);
  expect(event.length).toBeGreaterThan(62e6);
  const fd = openSync(path, 'w');
  writeSync(fd, encodeEpoch(1n));
  writeSync(fd, event);
  closeSync(fd);
  return { path, size: event.length };
}

/** A span with values of every size, some under names that it has twice. */
function mixedSpan(): Buffer {
  const text = (length: number): string => '\u00fc"'.repeat(length / 3);
  const attributes = Array.from({ length: 6000 }, (_, n): Attribute => {
    const name = n % 10 === 0 ? '__proto__' : `name "${n % 5000}"`;
    if (n % 3 === 0) return { name, type: 'string', value: text(n % 900) };
    if (n % 3 === 1) return { name, type: 'u64[]', value: [2n ** 60n, BigInt(n)] };
    return { name, type: 'f64[]', value: Array.from({ length: n % 90 }, () => n / 7) };
  });
  const span = encodeSpan({ id: 7n, start: 5n, end: 90n, attributes });
  expect(span.length).toBeGreaterThan(1 << 20);
  return span;
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

describe.each([false, true])('dump of one large packet, JSON: %s', (json) => {
  it('takes at most five times its size in memory', { timeout: 120_000 }, () => {
    const { path, size } = writeLarge(`large-${json}.heph`, encodeEvent(someEvent()));
    const { status, stderr } = dump(path, json);
    expect(status).toBe(0);
    expect(Number(stderr) * 1024).toBeLessThan(5 * size);
  });

  it('prints the same as if it was small, and nothing of one with a fault', () => {
    const path = join(directory, `mixed-${json}.heph`);
    const attributes = Array.from({ length: 20_000 }, (_, n) => ({
      name: `name "${n}"`,
      type: 'string' as const,
      value: `\x1b${'x'.repeat(60)}`,
    }));
    const large = encodeEvent({ ...someEvent(), description: 'large\n', attributes });
    const faulty = Buffer.from(large);
    faulty[faulty.length - 1] = 0xff;
    const packets = [encodeEpoch(1n), large, encodeEvent(someEvent()), large];
    expect(large.length).toBeGreaterThan(1 << 20);
    writeFileSync(path, Buffer.concat(packets));
    const lines = [...readPackets(path)].map((packet) =>
      json ? JSON.stringify(dumpObject(packet)).replaceAll('\x7f', '\\u007f') : dumpLine(packet),
    );
    const { status, stdout } = dump(path, json);
    const printed = readFileSync(stdout, 'utf8').trimEnd().split('\n');
    expect([status, printed.length]).toEqual([0, 5]);
    expect(printed.slice(1).every((line, i) => line === lines[i])).toBe(true);
    const before = hashOf(stdout);
    writeFileSync(path, Buffer.concat([...packets, faulty]));
    const second = dump(path, json);
    expect(second.status).toBe(1);
    expect(second.stderr).toContain('not valid UTF-8');
    expect(hashOf(stdout)).toBe(before);
  });
});

describe('one large span', { timeout: 120_000 }, () => {
  it.each([
    [5, ['dump']],
    [5, ['dump', '--json']],
    [6, ['convert', '--to', 'perfetto']],
    [5, ['convert', '--to', 'otlp']],
    [8, ['convert', '--to', 'otlp', '--encoding', 'protobuf']],
    [8, ['convert', '--to', 'parquet']],
  ])('takes at most %i times its size in memory: %s', (times, command) => {
    const { path, size } = writeLarge(
      'large-span.heph',
      encodeSpan({ id: 7n, start: 0n, end: 9n }),
    );
    const { status, stderr } = output(path, ...command);
    expect(status).toBe(0);
    expect(Number(stderr) * 1024).toBeLessThan(times * size);
  });

  it('of plain values takes at most six times its size as a picture', () => {
    const { path, size } = writeLarge('large-plain.heph', encodeEvent(someEvent()));
    const { status, stderr } = output(path, 'convert', '--to', 'perfetto');
    expect(status).toBe(0);
    expect(Number(stderr) * 1024).toBeLessThan(6 * size);
  });

  it('is printed and converted as if it was small', async () => {
    const path = join(directory, 'mixed-span.heph');
    writeFileSync(path, Buffer.concat([encodeEpoch(1n), mixedSpan()]));
    const spans: SpanRecord[] = [];
    for await (const span of readSpans(path)) spans.push(span);
    const whole = spans[0]!;
    const { attributes } = whole;
    expect(Object.keys(attributes)).toHaveLength(4502);
    const printed = (...command: string[]): string =>
      readFileSync(output(path, ...command).stdout, 'utf8');
    const shown = JSON.parse(printed('dump', '--json').split('\n')[2]!) as SpanRecord;
    expect(shown.attributes).toEqual(jsonValue(attributes));
    const line = printed('dump').split('\n')[2]!;
    const values = Object.entries(attributes).map(
      ([name, value]) => ` ${quotedText(name)}=${textOf(value)}`,
    );
    expect(line.endsWith(values.join(''))).toBe(true);
    expect(printed('convert', '--to', 'otlp')).toBe(`${requestJson(groupSpans(spans))}\n`);
    expect(drawn(path).at(-1)!.args).toMatchObject({ length: 85 });
  });
});

function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`;
  return typeof value === 'string' ? quotedText(value) : String(value);
}
