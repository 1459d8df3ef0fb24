import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { core } from '../../../src/core/addon.js';
import type { EventPacket } from '../../../src/heph/packet.js';
import { checkTrace } from '../../../src/heph/read/check.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import { recoverTrace } from '../../../src/heph/read/recover.js';
import { runFixture } from '../../fixtures/run-fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-open-records-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const { control } = core;

async function run(input: Record<string, unknown>): Promise<{ place: string; path: string }> {
  const place = mkdtempSync(join(folder, 'run-'));
  const path = join(place, 'trace.heph');
  await runFixture('core/open-events.mjs', { input: { target: path, ...input } });
  return { place, path };
}

function eventsOf(path: string): EventPacket[] {
  return [...readPackets(path)].filter((packet) => packet.kind === 'event');
}

function ringsIn(place: string): string[] {
  return readdirSync(place).filter((name) => name.endsWith('.ring'));
}

/** Ten events, two that ended, and those that were open: whole, numbered and with the last sign of life. */
function expectComplete(path: string, open: number): void {
  const events = eventsOf(path);
  expect(events.map(({ counter }) => counter)).toEqual([...Array(12 + open).keys()]);
  const names = events.map(({ description }) => description);
  expect(names.slice(0, 12)).toEqual(Array(12).fill('event'));
  expect(names.slice(12).sort()).toEqual(['open 0', 'open 3', 'open 4', 'open 5'].slice(0, open));
  const last = events[11]!.end;
  for (const { start, end } of events.slice(12)) {
    expect(start).toBeLessThanOrEqual(last);
    expect(end).toBeGreaterThanOrEqual(last);
  }
  expect([...checkTrace(path)].filter(({ rule }) => !rule.startsWith('converter'))).toEqual([]);
}

/** Numbers that look random and are the same each time. */
class Random {
  #state = 11;

  next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }

  integer(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<T>(list: readonly T[]): T {
    return list[this.integer(0, list.length - 1)]!;
  }
}

describe('events that are open when their process ends', () => {
  it.each(['exit', 'throw', 'close', 'terminate'])('are written by it: %s', async (end) => {
    const { place, path } = await run({ end });
    expectComplete(path, 4);
    expect(ringsIn(place)).toEqual([]);
  });

  it.each(['SIGKILL', 'SIGSEGV', 'SIGTERM', 'abort'])(
    'are written by recovery: %s',
    async (end) => {
      const { place, path } = await run({ end });
      expect(ringsIn(place)).toHaveLength(1);
      const { streams, faults } = recoverTrace(path);
      expect(faults).toEqual([]);
      expect(streams).toMatchObject([{ path, addedRecords: 4 }]);
      expectComplete(path, 4);
      expect(recoverTrace(path)).toEqual({ streams: [], emptied: [], faults: [] });
    },
  );

  it('go to the newest piece of a trace that rotates', async () => {
    const options = { rotateBytes: 2 ** 17 };
    const { place, path } = await run({ end: 'SIGKILL', events: 6000, options });
    const [last] = readdirSync(place)
      .filter((name) => /^trace\.\d+\.heph$/.test(name))
      .sort()
      .reverse();
    expect(last).not.toBe('trace.000001.heph');
    expect(recoverTrace(join(place, last!)).faults).toEqual([]);
    const names = eventsOf(join(place, last!)).map(({ description }) => description);
    expect(names.filter((name) => name.startsWith('open'))).toHaveLength(4);
    expect(existsSync(path)).toBe(false);
  });

  it('are counted when there is no place for them', async () => {
    const place = mkdtempSync(join(folder, 'run-'));
    const input = { target: join(place, 'trace.heph'), end: 'exit', open: 9, places: 4 };
    const { stdout } = await runFixture('core/open-events.mjs', { input });
    expect(JSON.parse(stdout)).toEqual({ events: 3, unkept: 5 });
  });
});

describe('a recovery of open events', () => {
  it.each([0, 1, 40, 100, 150])(
    'goes on where one was killed, whatever it was at (%i bytes of a write done)',
    async (bytes) => {
      const { place } = await run({ end: 'SIGKILL', open: 4 });
      for (let before = 1; ; before++) {
        const copy = join(mkdtempSync(join(folder, 'copy-')), 'trace');
        cpSync(place, copy, { recursive: true, preserveTimestamps: true });
        const path = join(copy, 'trace.heph');
        const { signal, stderr } = await runFixture('core/recovery-killed.mjs', {
          input: { path, before, bytes },
        });
        expect(stderr).toBe('');
        const { faults } = recoverTrace(path);
        // So little of an event could be of another one, which the file has lost.
        const isUnclear = bytes === 1 && before === 1;
        const said = faults.map(({ message }) => message);
        if (!isUnclear) expect(said).toEqual([]);
        for (const each of said) expect(each).toContain('has lost its end');
        expectComplete(path, 2);
        expect(ringsIn(copy)).toEqual([]);
        if (signal !== 'SIGKILL') {
          expect(before).toBe(3);
          return;
        }
      }
    },
  );

  it('believes no table: what is committed stays whole', async () => {
    const { place, path } = await run({ end: 'SIGKILL', events: 100 });
    const [name] = ringsIn(place);
    const ring = readFileSync(join(place, name!));
    const trace = readFileSync(path);
    const random = new Random();
    const stride = ring.readUInt32LE(control.openStride);
    const u32 = [
      'openPlaces',
      'openStride',
      'numberAt',
      'stampKind',
      'series',
      'nextNumber',
    ] as const;
    const u64 = [
      'epoch',
      'aliveAt',
      'endedAt',
      'claimFrom',
      'claimTo',
      'claimOffset',
      'head',
    ] as const;
    let recovered = 0;
    for (let turn = 0; turn < 300; turn++) {
      const bytes = Buffer.from(ring);
      for (let i = random.integer(1, 3); i > 0; i--) {
        const kind = random.next();
        if (kind < 0.3) {
          const value = random.pick([0, 1, 7, 8, 16, 64, 128, 4096, 65_536, 2 ** 31, 2 ** 32 - 1]);
          bytes.writeUInt32LE(value, control[random.pick(u32)]);
        } else if (kind < 0.6) {
          const near = bytes.readBigUInt64LE(control[random.pick(u64)]);
          const value = random.next() < 0.5 ? near + BigInt(random.integer(-60, 60)) : 2n ** 52n;
          bytes.writeBigUInt64LE(BigInt.asUintN(64, value), control[random.pick(u64)]);
        } else {
          const at = control.openTable + random.integer(0, 64) * stride + random.integer(0, 70);
          bytes.writeUInt8(random.integer(0, 255), at);
        }
      }
      writeFileSync(join(place, name!), bytes);
      writeFileSync(path, trace);
      const { faults } = recoverTrace(path);
      // A ring that says so makes it a file that has lost its end.
      for (const cut of readdirSync(place).filter((each) => each.endsWith('.cut'))) {
        rmSync(join(place, cut));
      }
      // Whatever lies in the file can be read, and begins with what lay there.
      expect(readFileSync(path).subarray(0, trace.length)).toEqual(trace);
      const events = eventsOf(path);
      if (faults.length > 0) continue;
      recovered += 1;
      expect(events.length).toBeLessThanOrEqual(102 + 64);
    }
    expect(recovered).toBeGreaterThan(50);
  });
});
