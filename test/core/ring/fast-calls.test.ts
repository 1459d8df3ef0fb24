import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPackets } from '../../../src/heph/read/reader.js';
import { readStream } from '../../../src/ovni/read/ordered-reader.js';
import { decodeArguments } from '../../../src/ovni/read/event-arguments.js';
import { parseSignature } from '../../../src/ovni/signature.js';

const EVENTS = 60_000;
const signature = parseSignature('XYn(u32 number, u64 square)');
const fixture = fileURLToPath(new URL('../fixtures/commit-calls.mjs', import.meta.url));

describe.each(['on', 'off'])('commits with TRACEWRIGHT_TEST_FAST_CALLS=%s', (setting) => {
  let directory: string;
  let said: { fastCalls: boolean };

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'tracewright-calls-'));
    const env = { ...process.env, TRACEWRIGHT_TEST_FAST_CALLS: setting };
    const output = execFileSync(process.execPath, [fixture, directory, String(EVENTS)], {
      env,
      encoding: 'utf8',
    });
    said = JSON.parse(output) as typeof said;
  }, 60_000);

  afterAll(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  it('are fast on every Node that the package is tested on, unless turned off', () => {
    // Another Node needs its V8 line in native/addon/v8_version.h, and a run of these tests.
    const tested = ['20', '22', '24', '25', '26'].includes(process.versions.node.split('.')[0]!);
    expect(said.fastCalls).toBe(setting === 'on' && tested);
  });

  it.each([1, 2])('lose and repeat nothing in stream %i', (tid) => {
    const path = join(directory, `ovni/loom.calls/proc.1/thread.${tid}/stream.obs`);
    let next = (tid - 1) * EVENTS;
    const marks: number[] = [];
    let clock = 0n;
    for (const event of readStream(path, { version: 3 })) {
      if (event.clock < clock) throw new Error(`the clock goes back at byte ${event.offset}`);
      clock = event.clock;
      if (event.mcv === 'OM[' || event.mcv === 'OM]') {
        marks.push(Number(Buffer.from(event.payload).readBigInt64LE()) - 1);
      } else if (event.mcv === 'XYn') {
        const { number, square } = decodeArguments(event, signature) as Record<string, unknown>;
        if (number !== next || Number(square) !== next * next) expect([number, square]).toBe(next);
        next += 1;
      }
    }
    expect(next).toBe(tid * EVENTS);
    expect(marks.length).toBe(2 * EVENTS);
    expect(marks.every((mark, i) => mark === (tid - 1) * EVENTS + (i >> 1))).toBe(true);
  });

  it('write every span', () => {
    const numbers: number[] = [];
    for (const packet of readPackets(join(directory, 'calls.heph'))) {
      if (packet.kind === 'event') numbers.push(Number(packet.attributes[0]?.value));
    }
    expect(numbers).toEqual(Array.from({ length: (2 * EVENTS) / 10 }, (_, i) => 10 * i));
  });
});
