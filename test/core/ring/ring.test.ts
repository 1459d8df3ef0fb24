import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { core } from '../../../src/core/addon.js';
import type { NativeRingOptions } from '../../../src/core/native-ring.js';
import { wrongOrder } from '../../../src/core/errors.js';
import { Ring } from '../../../src/core/ring/ring.js';
import { checkRingOptions } from '../../../src/core/options/ring-options.js';

const CAPACITY = 65_536;
const folder = mkdtempSync(join(tmpdir(), 'tracewright-ring-'));
let files = 0;

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Opened {
  ring: Ring;
  target: string;
  path: string;
  stalls: [from: bigint, to: bigint][];
}

function open(options: Partial<NativeRingOptions> = {}): Opened {
  const target = join(folder, `${++files}.bytes`);
  const path = join(folder, `.${files}.ring`);
  const stalls: [bigint, bigint][] = [];
  const ring = new Ring(() => wrongOrder('record', 'the ring is closed'), {
    bytes: 0,
    record: ([fromLow, fromHigh, toLow, toHigh]) => {
      stalls.push([
        (BigInt(fromHigh!) << 32n) | BigInt(fromLow!),
        (BigInt(toHigh!) << 32n) | BigInt(toLow!),
      ]);
    },
  });
  ring.open({
    path,
    capacity: CAPACITY,
    format: 'test',
    target,
    stampOffset: 0,
    stamp: 'none',
    kernelClock: false,
    full: 'block',
    blockLimitMs: 1000,
    ...options,
  });
  return { ring, target, path, stalls };
}

/** Writes a record of `bytes` times `value`; false when it was dropped. */
function put(ring: Ring, bytes: number, value: number): boolean {
  if (ring.free < bytes && !ring.makeRoom(bytes)) return false;
  ring.bytes.fill(value, ring.position, ring.position + bytes);
  ring.advance(bytes);
  ring.commit();
  return true;
}

describe('block', () => {
  it('records of any size come out whole and in order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: CAPACITY / 2 }), { minLength: 1, maxLength: 60 }),
        (sizes) => {
          const { ring, target, path } = open();
          sizes.forEach((bytes, i) => {
            if (!put(ring, bytes, i % 251)) throw new Error(`record ${i} was dropped`);
          });
          ring.close();
          const expected = Buffer.concat(sizes.map((bytes, i) => Buffer.alloc(bytes, i % 251)));
          const same = readFileSync(target).equals(expected);
          rmSync(target);
          if (!same) throw new Error('the file holds other bytes');
          if (existsSync(path)) throw new Error('the ring is still there');
        },
      ),
      { numRuns: 40 },
    );
  });

  it('a ring that is full is written by the thread itself, which is a stall', () => {
    const { ring, stalls } = open();
    const before = process.hrtime.bigint();
    let calls = 0;
    // In one go, while the drain thread may or may not have come round.
    for (let i = 0; i < 200; i++) {
      if (ring.free < CAPACITY / 2) calls++;
      put(ring, CAPACITY / 2, i);
    }
    const after = process.hrtime.bigint();
    expect(ring.droppedEvents).toBe(0);
    expect(stalls.length).toBeLessThanOrEqual(calls);
    for (const [from, to] of stalls) {
      expect(from <= to).toBe(true);
      expect(from >= before - 1_000_000n && to <= after + 1_000_000n).toBe(true);
    }
    ring.close();
  });
});

describe('drop', () => {
  it('turns records away when the ring is full, and counts each', () => {
    const { ring, target, stalls } = open({ full: 'drop' });
    let written = 0;
    let dropped = 0;
    for (let i = 0; i < 5000; i++) {
      if (put(ring, 4096, i % 251)) written++;
      else dropped++;
    }
    expect(dropped).toBeGreaterThan(0);
    expect(ring.droppedEvents).toBe(dropped);
    expect(stalls).toEqual([]);
    ring.close();
    expect(statSync(target).size).toBe(written * 4096);
  });

  it('but not those that insist', () => {
    const { ring, target } = open({ full: 'drop' });
    let written = 0;
    for (let i = 0; i < 2000; i++) {
      if (put(ring, 4096, 1)) written++;
      if (ring.free < 100 && !ring.forceRoom(100)) throw new Error('refused');
      ring.bytes.fill(2, ring.position, ring.position + 100);
      ring.advance(100);
      ring.commit();
    }
    ring.close();
    expect(statSync(target).size).toBe(written * 4096 + 2000 * 100);
  });
});

it('a closed ring refuses with the error of its owner, and late commits change nothing', () => {
  const { ring, target } = open();
  put(ring, 10, 1);
  const { commit } = ring;
  ring.close();
  ring.close();
  expect(() => put(ring, 1, 2)).toThrow(expect.objectContaining({ code: 'ERR_ORDER' }));
  expect(() => ring.forceRoom(1)).toThrow(expect.objectContaining({ code: 'ERR_ORDER' }));
  expect(() => ring.flush()).toThrow(expect.objectContaining({ code: 'ERR_ORDER' }));
  expect(() => ring.writeThrough(new Uint8Array(1), new Uint8Array(1), false)).toThrow(
    expect.objectContaining({ code: 'ERR_ORDER' }),
  );
  commit();
  ring.commit();
  expect(readFileSync(target)).toEqual(Buffer.alloc(10, 1));
});

it('the addon may be loaded again on a thread that has rings open', () => {
  const { ring, target } = open();
  put(ring, 10, 1);
  const addon = new URL('../../../build/Release/tracewright.node', import.meta.url);
  process.dlopen({ exports: {} }, fileURLToPath(addon));
  put(ring, 10, 2);
  ring.close();
  expect(readFileSync(target)).toEqual(Buffer.concat([Buffer.alloc(10, 1), Buffer.alloc(10, 2)]));
});

it('a target that is there already is never overwritten', () => {
  const { ring, target } = open();
  put(ring, 10, 1);
  ring.close();
  expect(() => open({ target })).toThrow(
    expect.objectContaining({ name: 'TracewrightError', code: 'ERR_SYSTEM', value: target }),
  );
  expect(readFileSync(target)).toEqual(Buffer.alloc(10, 1));
});

it('a ring that cannot be made leaves no target behind', () => {
  const target = join(folder, 'never.bytes');
  expect(() => open({ target, path: join(folder, 'nowhere', '.ring') })).toThrow(
    expect.objectContaining({ name: 'TracewrightError', code: 'ERR_SYSTEM' }),
  );
  expect(existsSync(target)).toBe(false);
});

it('sizes are rounded up to a power of two', () => {
  const { ringBytes } = checkRingOptions({ ringBytes: 65_537 }, { onFull: 'block' });
  expect(ringBytes).toBe(131_072);
  expect(checkRingOptions({ ringBytes: 65_536 }, { onFull: 'block' }).ringBytes).toBe(65_536);
  expect(checkRingOptions({ ringBytes: 2 ** 29 }, { onFull: 'block' }).ringBytes).toBe(2 ** 29);
  expect(core.control.bytes % 4096).toBe(0);
});
