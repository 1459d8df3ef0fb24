import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { core } from '../../../src/core/addon.js';
import { TracewrightError } from '../../../src/core/errors.js';
import {
  addCpu,
  clockNow,
  emit,
  emitJumbo,
  event,
  flush,
  markPop,
  markPush,
  markSet,
  markType,
  procFini,
  procInit,
  threadFree,
  threadInit,
  threadRequire,
} from '../../../src/ovni/index.js';
import type { ProcessOptions } from '../../../src/ovni/index.js';
import { faultsOf, findingsOf, onlyStream, withoutFlushes } from '../stream-content.js';
import type { ReadEvent } from '../stream-content.js';
import { temporaryFolder } from '../trace-building.js';

const RING = 64 * 1024;
/** A longer event is written past the ring. */
const LONGEST = RING / 2;
const JUMBO_HEAD = 16;

const execute = event('OHx');
const burst = event('OB.');
const unpaired = event('XO[');
const typeCreate = event('VYc');
const narrow = event('XXn(u8 a, i8 b, u16 c, i16 d, i32 e)');
const wide = event('XXw(u64 a, i64 b)');
const text = event('XXt+(u32 a, str b)');

/** Writes one thread's stream through a small ring, and gives the trace's directory. */
function trace(write: () => void, options: ProcessOptions = {}): string {
  const { traceDir } = procInit(1, 'node.1', 7, {
    traceDir: join(temporaryFolder(), 'ovni'),
    version: 3,
    ringBytes: RING,
    ...options,
  });
  threadInit(7);
  addCpu(0, 0);
  try {
    write();
  } finally {
    threadFree();
    procFini();
  }
  return traceDir;
}

/** What was given to the writer: what the reader must find. */
interface Written {
  mcv: string;
  payload: Buffer;
  data: Buffer | undefined;
}

/** Compares byte by byte; the test runner's own comparison takes minutes for megabytes. */
function expectWritten(traceDir: string, written: readonly Written[]): ReadEvent[] {
  const { events } = withoutFlushes(onlyStream(traceDir));
  expect(events).toHaveLength(written.length);
  events.forEach(({ mcv, payload, data, clock }, i) => {
    const expected = written[i]!;
    const same =
      mcv === expected.mcv &&
      payload.equals(expected.payload) &&
      (data === undefined || expected.data === undefined
        ? data === expected.data
        : data.equals(expected.data));
    if (!same) throw new Error(`event ${i} is ${mcv}, not the ${expected.mcv} that was written`);
    if (i > 0 && clock < events[i - 1]!.clock) throw new Error(`the clock of event ${i} goes back`);
  });
  return events;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function patterned(bytes: number): Buffer {
  const data = Buffer.alloc(bytes);
  for (let i = 0; i < bytes; i++) data[i] = (i * 31 + (i >> 8)) & 0xff;
  return data;
}

type Action = (written: Written[]) => void;

function jumboAction(mcv: string, data: Buffer): Action {
  return (written) => {
    emitJumbo(mcv, data);
    written.push({ mcv, payload: u32(data.length), data });
  };
}

const anyMcv = fc
  .string({
    unit: fc.constantFrom('A', 'B', 'K', 'X', '!', '~', '0', '9', '[', ']'),
    minLength: 3,
    maxLength: 3,
  })
  .filter((mcv) => !mcv.startsWith('OH'));

const anyEmit: fc.Arbitrary<Action> = fc
  .tuple(
    anyMcv,
    fc.oneof(fc.constant(new Uint8Array(0)), fc.uint8Array({ minLength: 2, maxLength: 16 })),
    fc.integer({ min: 1, max: 700 }),
  )
  .map(([mcv, payload, times]): Action => (written) => {
    for (let i = 0; i < times; i++) {
      emit(mcv, payload);
      written.push({ mcv, payload: Buffer.from(payload), data: undefined });
    }
  });

const anyJumbo: fc.Arbitrary<Action> = fc
  .tuple(
    anyMcv,
    fc.oneof(
      fc.nat(300),
      fc.constantFrom(
        LONGEST - JUMBO_HEAD - 1,
        LONGEST - JUMBO_HEAD,
        LONGEST - JUMBO_HEAD + 1,
        RING - JUMBO_HEAD,
        RING,
        3 * RING + 5,
      ),
    ),
  )
  .map(([mcv, bytes]) => jumboAction(mcv, patterned(bytes)));

const anyNarrow: fc.Arbitrary<Action> = fc
  .tuple(
    fc.integer({ min: 0, max: 0xff }),
    fc.integer({ min: -0x80, max: 0x7f }),
    fc.integer({ min: 0, max: 0xffff }),
    fc.integer({ min: -0x8000, max: 0x7fff }),
    fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff }),
  )
  .map((values): Action => (written) => {
    narrow(...values);
    const payload = Buffer.alloc(10);
    payload.writeUInt8(values[0], 0);
    payload.writeInt8(values[1], 1);
    payload.writeUInt16LE(values[2], 2);
    payload.writeInt16LE(values[3], 4);
    payload.writeInt32LE(values[4], 6);
    written.push({ mcv: 'XXn', payload, data: undefined });
  });

const anyWide: fc.Arbitrary<Action> = fc
  .tuple(
    fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.maxSafeNat()),
    fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.maxSafeInteger()),
  )
  .map(([a, b]): Action => (written) => {
    wide(a, b);
    const payload = Buffer.alloc(16);
    payload.writeBigUInt64LE(BigInt(a), 0);
    payload.writeBigInt64LE(BigInt(b), 8);
    written.push({ mcv: 'XXw', payload, data: undefined });
  });

const anyText: fc.Arbitrary<Action> = fc
  .tuple(
    fc.integer({ min: 0, max: 0xffff_ffff }),
    fc.string({ unit: 'binary', maxLength: 200 }).filter((value) => !value.includes('\0')),
  )
  .map(([a, b]): Action => (written) => {
    text(a, b);
    const data = Buffer.concat([u32(a), Buffer.from(`${b}\0`)]);
    written.push({ mcv: 'XXt', payload: u32(data.length), data });
  });

const anyMark: fc.Arbitrary<Action> = fc
  .oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.maxSafeInteger())
  .filter((value) => value !== 0 && value !== 0n)
  .map((value): Action => (written) => {
    const push = (mcv: string, type: number): void => {
      const payload = Buffer.alloc(12);
      payload.writeBigInt64LE(BigInt(value), 0);
      payload.writeInt32LE(type, 8);
      written.push({ mcv, payload, data: undefined });
    };
    markPush(1, value);
    push('OM[', 1);
    markSet(2, value);
    push('OM=', 2);
    markPop(1, value);
    push('OM]', 1);
  });

const anyActions = fc.array(
  fc.oneof({ arbitrary: anyEmit, weight: 4 }, anyJumbo, anyNarrow, anyWide, anyText, anyMark),
  { minLength: 1, maxLength: 30 },
);

describe('what is written is what is read', () => {
  it.each([1, 3] as const)('random events through a ring of 64 KiB, version %i', (version) => {
    fc.assert(
      fc.property(anyActions, (actions) => {
        const written: Written[] = [];
        const traceDir = trace(
          () => {
            markType(1, 'stack', { stack: true });
            markType(2, 'value');
            for (const action of actions) action(written);
          },
          { version },
        );
        expectWritten(traceDir, written);
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    0,
    1,
    LONGEST - JUMBO_HEAD - 1,
    LONGEST - JUMBO_HEAD,
    LONGEST - JUMBO_HEAD + 1,
    RING - JUMBO_HEAD - 24,
    RING - JUMBO_HEAD,
    RING - JUMBO_HEAD + 1,
    4 * 1024 * 1024 + 3,
  ])('jumbo data of %i bytes, wherever the ring is', (bytes) => {
    const written: Written[] = [];
    const traceDir = trace(() => {
      for (const before of [0, 1, 3000, 5000]) {
        for (let i = 0; i < before; i++) {
          burst();
          written.push({ mcv: 'OB.', payload: Buffer.alloc(0), data: undefined });
        }
        jumboAction('VYc', patterned(bytes))(written);
      }
    });
    expectWritten(traceDir, written);
  });

  it('a trace of declared events passes the check', () => {
    const traceDir = trace(() => {
      threadRequire('nosv', '2.4.0');
      execute(-1, -1, 0);
      for (let i = 0; i < 20_000; i++) burst();
      typeCreate(1, 'x'.repeat(511));
      emitJumbo('OB.', new Uint8Array(3 * RING));
      flush();
      event('OHe')();
    });
    expect(faultsOf(traceDir)).toEqual([]);
  });
});

describe('standing still is recorded, and nothing else is', () => {
  it('events that fit the ring leave no OF[', () => {
    const traceDir = trace(() => {
      execute(-1, -1, 0);
      for (let i = 0; i < 1000; i++) burst();
      event('OHe')();
    });
    expect(onlyStream(traceDir)).toHaveLength(1002);
    expect(findingsOf(traceDir)).toEqual([]);
  });

  it('every flush and every event past the ring leaves one pair, right after it', () => {
    const traceDir = trace(() => {
      burst();
      flush();
      burst();
      emitJumbo('VYc', patterned(LONGEST));
      burst();
    });
    expect(onlyStream(traceDir).map(({ mcv }) => mcv)).toEqual([
      'OB.',
      'OF[',
      'OF]',
      'OB.',
      'VYc',
      'OF[',
      'OF]',
      'OB.',
    ]);
  });

  it('pairs stay whole when the last clock lies in the future', () => {
    const traceDir = trace(() => {
      const ahead = clockNow() + 3_600_000_000_000n;
      emit('OB.', undefined, ahead);
      flush();
      emitJumbo('VYc', patterned(LONGEST));
    });
    const { events, flushes } = withoutFlushes(onlyStream(traceDir));
    expect(events.map(({ mcv }) => mcv)).toEqual(['OB.', 'VYc']);
    expect(flushes).toBe(2);
  });

  it('events that bring their clock are never refused because the ring was full', () => {
    const count = 100_000;
    const traceDir = trace(() => {
      for (let i = 0; i < count; i++) emit('OB.', undefined, BigInt(1000 + i));
      emitJumbo('VYc', patterned(2 * RING), BigInt(1000 + count));
      emit('OB.', undefined, BigInt(1001 + count));
    });
    const events = onlyStream(traceDir);
    expect(events).toHaveLength(count + 2);
    events.forEach(({ clock }, i) => {
      if (clock !== BigInt(1000 + i)) throw new Error(`event ${i} has clock ${clock}`);
    });
  });
});

describe('explicit clocks', () => {
  it('go back: refused with a typed error, and the trace stays as it was', () => {
    const refused: unknown[] = [];
    const refuse = (call: () => void): void => {
      try {
        call();
      } catch (error) {
        refused.push(error);
      }
    };
    const traceDir = trace(() => {
      const t = clockNow();
      emit('OHx', Buffer.alloc(16, 0xff), t);
      emit('OB.', undefined, t);
      refuse(() => {
        emit('OB.', undefined, t - 1n);
      });
      refuse(() => {
        emit('OHp', undefined, 0n);
      });
      refuse(() => {
        emitJumbo('VYc', Buffer.alloc(5), t - 1n);
      });
      refuse(() => {
        emitJumbo('VYc', Buffer.alloc(2 * RING), t - 1n);
      });
      emit('OHe', undefined, t + 5n);
    });
    expect(refused).toHaveLength(4);
    for (const error of refused) {
      expect(error).toBeInstanceOf(TracewrightError);
      expect(error).toMatchObject({ code: 'ERR_ARGUMENT_RANGE', field: 'clock' });
      expect((error as TracewrightError).limit).toBe(
        'not before the last event of the stream, outside OU[ and OU]',
      );
      expect((error as TracewrightError).value).toBeTypeOf('bigint');
    }
    expect(findingsOf(traceDir)).toEqual([]);
    expect(onlyStream(traceDir).map(({ mcv }) => mcv)).toEqual(['OHx', 'OB.', 'OHe']);
  });

  it('0 and 2^64 - 1 can be said; later events have no earlier one', () => {
    const traceDir = trace(() => {
      emit('OB.', undefined, 0n);
      emit('OB.', undefined, 2n ** 64n - 1n);
      burst();
    });
    expect(onlyStream(traceDir).map(({ clock }) => clock)).toEqual([
      0n,
      2n ** 64n - 1n,
      2n ** 64n - 1n,
    ]);
  });
});

describe('onFull: drop', () => {
  it('keeps states and marks consistent however full the ring is', () => {
    let pairs = 0;
    const traceDir = trace(
      () => {
        markType(1, 'stack', { stack: true });
        execute(-1, -1, 0);
        const pause = event('OHp');
        const resume = event('OHr');
        for (let round = 0; round < 60; round++) {
          for (let i = 0; i < 2000; i++) burst();
          pause();
          for (let i = 0; i < 2000; i++) burst();
          resume();
          markPush(1, round + 1);
          for (let i = 0; i < 2000; i++) emit('OB.');
          markPop(1, round + 1);
          pairs++;
        }
        emit('OHe');
      },
      { onFull: 'drop' },
    );
    expect(faultsOf(traceDir)).toEqual([]);
    const counts = new Map<string, number>();
    for (const { mcv } of onlyStream(traceDir)) counts.set(mcv, (counts.get(mcv) ?? 0) + 1);
    for (const mcv of ['OHp', 'OHr', 'OM[', 'OM]']) expect(counts.get(mcv)).toBe(pairs);
  });
});

describe('options', () => {
  function rings(directory: string): string[] {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ring'))
      .map((name) => join(directory, name));
  }

  it.each([1, 3] as const)(
    'the ring file is hidden next to the trace and goes, version %i',
    (v) => {
      let during: string[] = [];
      const folder = temporaryFolder();
      trace(
        () => {
          burst();
          during = rings(folder).map((path) => path.split('/').at(-1)!);
        },
        { version: v, traceDir: join(folder, 'ovni') },
      );
      expect(during).toHaveLength(1);
      expect(during[0]).toMatch(/^\./);
      expect(rings(folder)).toEqual([]);
    },
  );

  it('ringDir holds the ring, ringBytes is its size', () => {
    const ringDir = temporaryFolder();
    let sizes: number[] = [];
    trace(
      () => {
        sizes = rings(ringDir).map((path) => statSync(path).size);
      },
      { ringDir, ringBytes: 200_000 },
    );
    expect(sizes).toEqual([core.control.bytes + 256 * 1024]);
    expect(rings(ringDir)).toEqual([]);
  });

  it('environment variables say the same where options do not', () => {
    const folder = temporaryFolder();
    const ringDir = temporaryFolder();
    const set: Record<string, string> = {
      OVNI_TRACEDIR: join(folder, 'from-environment'),
      TRACEWRIGHT_RING_DIR: ringDir,
      TRACEWRIGHT_RING_BYTES: '70000',
    };
    Object.assign(process.env, set);
    try {
      const place = procInit(1, 'node.1', 7);
      expect(place.traceDir).toBe(set['OVNI_TRACEDIR']);
      threadInit(7);
      expect(rings(ringDir).map((path) => statSync(path).size)).toEqual([
        core.control.bytes + 128 * 1024,
      ]);
      threadFree();
      procFini();
      const cwd = process.cwd();
      process.chdir(folder);
      process.env['OVNI_TRACEDIR'] = '';
      expect(procInit(1, 'node.1', 7).traceDir).toBe(join(folder, 'ovni'));
      procFini();
      process.chdir(cwd);
      process.env['TRACEWRIGHT_RING_BYTES'] = '';
      process.env['TRACEWRIGHT_ON_FULL'] = 'explode';
      expect(() => procInit(1, 'node.1', 8)).toThrow(
        expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE', field: 'TRACEWRIGHT_ON_FULL' }),
      );
    } finally {
      for (const name of [...Object.keys(set), 'TRACEWRIGHT_ON_FULL']) {
        Reflect.deleteProperty(process.env, name);
      }
    }
  });

  it("clock: 'monotonic' is the kernel's clock, not the one that runs along with it", () => {
    let before = 0n;
    let after = 0n;
    const traceDir = trace(
      () => {
        before = process.hrtime.bigint();
        burst();
        after = process.hrtime.bigint();
        expect(clockNow()).toBeGreaterThanOrEqual(after);
      },
      { clock: 'monotonic' },
    );
    const { clock } = onlyStream(traceDir)[0]!;
    expect(clock >= before && clock <= after).toBe(true);
  });

  it.each([1, 3] as const)(
    'OVNI_TMPDIR: written there, moved at the end, version %i',
    (version) => {
      const folder = temporaryFolder();
      const temporary = join(folder, 'fast-disk');
      process.env['OVNI_TMPDIR'] = temporary;
      try {
        const traceDir = trace(
          () => {
            execute(-1, -1, 0);
            for (let i = 0; i < 10_000; i++) burst();
            expect(readdirSync(temporary)).toEqual(['loom.node.1']);
            event('OHe')();
          },
          { version, traceDir: join(folder, 'ovni') },
        );
        expect(traceDir).toBe(join(folder, 'ovni'));
        expect(faultsOf(traceDir)).toEqual([]);
        expect(withoutFlushes(onlyStream(traceDir)).events).toHaveLength(10_002);
        expect(readdirSync(temporary)).toEqual([]);
      } finally {
        Reflect.deleteProperty(process.env, 'OVNI_TMPDIR');
      }
    },
  );
});

it('an event that no model declares is written all the same', () => {
  const traceDir = trace(() => {
    unpaired();
  });
  expect(onlyStream(traceDir).map(({ mcv }) => mcv)).toEqual(['XO[']);
  expect(existsSync(traceDir)).toBe(true);
});
