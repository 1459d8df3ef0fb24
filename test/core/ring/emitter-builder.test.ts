import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { wrongOrder } from '../../../src/core/errors.js';
import { buildEmitter } from '../../../src/core/ring/emitter-builder.js';
import { Ring } from '../../../src/core/ring/ring.js';

const CAPACITY = 65_536;
const folder = mkdtempSync(join(tmpdir(), 'tracewright-emitter-'));
let files = 0;

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function open(): { ring: Ring; target: string } {
  const target = join(folder, `${++files}.bytes`);
  const ring = new Ring(() => wrongOrder('record', 'the ring is closed'));
  ring.open({
    path: join(folder, `.${files}.ring`),
    capacity: CAPACITY,
    format: 'test',
    target,
    stampOffset: 0,
    stamp: 'none',
    kernelClock: false,
    full: 'block',
    blockLimitMs: 1000,
  });
  return { ring, target };
}

/** A record of 4 bytes, and a list of what took the path of unusual cases. */
function numberEmitter(owner: { ring: Ring }, published = '', scope = {}) {
  const plain: unknown[] = [];
  const emit = buildEmitter(
    owner,
    {
      name: 'number',
      parameters: ['value'],
      test: `typeof value === 'number' && (value | 0) === value`,
      bytes: 4,
      write: 'view.setInt32(start, value);',
      published,
      scope,
    },
    (value: unknown) => {
      plain.push(value);
      const { ring } = owner;
      if (ring.free < 4 && !ring.makeRoom(4)) return;
      ring.view.setInt32(ring.position, Number(value));
      ring.advance(4);
      ring.commit();
    },
  );
  return { emit, plain };
}

function numbersIn(target: string): number[] {
  const bytes = readFileSync(target);
  return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readInt32BE(4 * i));
}

describe('buildEmitter', () => {
  it('records the usual case without the plain function, and the rest with it', () => {
    const { ring, target } = open();
    const { emit, plain } = numberEmitter({ ring });
    emit(1);
    emit('2');
    emit(-3);
    ring.close();
    expect(plain).toEqual(['2']);
    expect(numbersIn(target)).toEqual([1, 2, -3]);
  });

  it('asks the plain function for room, round after round of the ring', () => {
    const { ring, target } = open();
    const { emit, plain } = numberEmitter({ ring });
    const count = CAPACITY;
    for (let i = 0; i < count; i++) emit(i);
    ring.close();
    expect(plain.length).toBeGreaterThan(0);
    expect(numbersIn(target)).toEqual(Array.from({ length: count }, (_, i) => i));
  });

  it('reports a closed ring by the plain function', () => {
    const { ring } = open();
    const { emit } = numberEmitter({ ring });
    ring.close();
    expect(() => {
      emit(1);
    }).toThrow('the ring is closed');
  });

  it('is compiled again for the ring that follows a closed one', () => {
    const first = open();
    const owner = { ring: first.ring };
    const { emit, plain } = numberEmitter(owner);
    emit(1);
    first.ring.close();
    const second = open();
    owner.ring = second.ring;
    emit(2);
    emit(3);
    second.ring.close();
    expect(plain).toEqual([2]);
    expect(numbersIn(first.target)).toEqual([1]);
    expect(numbersIn(second.target)).toEqual([2, 3]);
  });

  it('follows the commit with statements of the caller', () => {
    const { ring } = open();
    const counts = [0];
    const { emit } = numberEmitter({ ring }, 'counts[0]++;', { counts });
    emit(1);
    emit(2);
    ring.close();
    expect(counts).toEqual([2]);
  });

  it('takes records whose size is known when they are written', () => {
    const { ring, target } = open();
    const emit = buildEmitter<[text: string]>(
      { ring },
      {
        name: 'text',
        parameters: ['text'],
        prepare: 'if (text === undefined) return;',
        test: `typeof text === 'string'`,
        bytes: '3 * text.length',
        functions: `function put(at, text) {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
  return at + text.length;
}`,
        write: 'const end = put(start, text);',
        size: 'end - start',
        scope: (own) => ({ capacity: own.capacity }),
      },
      () => {
        throw new TypeError('not a text');
      },
    );
    emit('one');
    (emit as () => void)();
    emit(' two');
    expect(() => {
      (emit as (value: unknown) => void)(3);
    }).toThrow('not a text');
    ring.close();
    expect(readFileSync(target, 'latin1')).toBe('one two');
  });

  it('has an entry that may return, and that leaves arguments elsewhere', () => {
    const { ring, target } = open();
    const started = new Float64Array(1);
    const plain: unknown[][] = [];
    const emit = buildEmitter<[time: number | undefined, value: unknown]>(
      { ring },
      {
        name: 'span',
        parameters: ['value'],
        entry: {
          parameters: ['time', 'value'],
          prepare: `if (typeof time !== 'number') return;
  started[0] = time;`,
          plainArguments: ['started[0]', 'value'],
        },
        test: `typeof value === 'number'`,
        bytes: 8,
        write: 'view.setInt32(start, started[0]); view.setInt32(start + 4, value);',
        scope: { started },
      },
      (...values) => {
        plain.push(values);
      },
    );
    emit(undefined, 1);
    emit(2, 3);
    emit(4, 'five');
    ring.close();
    expect(plain).toEqual([[4, 'five']]);
    expect(numbersIn(target)).toEqual([2, 3]);
  });
});
