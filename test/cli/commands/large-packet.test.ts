import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dumpLine, dumpObject } from '../../../src/heph/read/dump.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import { encodeEpoch, encodeEvent, someEvent } from '../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { main } from '../run-command.js';

const directory = temporaryDirectory();
/** Prints the most memory that the process has had, in KiB. */
const SAYING = `data:text/javascript,process.once('exit', () => {
  process.stderr.write(String(process.resourceUsage().maxRSS));
})`;

interface Dumped {
  status: number | null;
  stdout: string;
  stderr: string;
}

function dump(path: string, json: boolean): Dumped {
  const out = `${path}.txt`;
  const fd = openSync(out, 'w');
  const args = ['--import', SAYING, main, 'dump', ...(json ? ['--json'] : []), path];
  const { status, stderr } = spawnSync(process.execPath, args, {
    stdio: ['ignore', fd, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(fd);
  return { status, stdout: out, stderr };
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

describe.each([false, true])('dump of one large packet, JSON: %s', (json) => {
  it('takes at most five times its size in memory', { timeout: 120_000 }, () => {
    const path = join(directory, `large-${json}.heph`);
    const array = Buffer.from('\x00\x01a\x81\xff\xff', 'latin1');
    const values = Buffer.alloc(65_535 * 8, 1);
    const attributes = Array.from({ length: 120 }, () => [array, values]).flat();
    const event = Buffer.concat([encodeEvent(someEvent()), ...attributes]);
    event.writeUInt32BE(event.length, 4);
    expect(event.length).toBeGreaterThan(62e6);
    const fd = openSync(path, 'w');
    writeSync(fd, encodeEpoch(1n));
    writeSync(fd, event);
    closeSync(fd);
    const { status, stderr } = dump(path, json);
    expect(status).toBe(0);
    expect(Number(stderr) * 1024).toBeLessThan(5 * event.length);
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
