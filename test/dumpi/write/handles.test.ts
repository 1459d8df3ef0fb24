import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Comm } from '../../../src/dumpi/constants.js';
import { createHandles, HandleNumbers } from '../../../src/dumpi/write/handles.js';

describe('numbers of MPI objects', () => {
  it('begin where libdumpi has them begin', () => {
    const handles = createHandles();
    expect(
      Object.fromEntries(Object.entries(handles).map(([kind, numbers]) => [kind, numbers.take()])),
    ).toEqual({
      comm: 4,
      datatype: 28,
      errhandler: 2,
      file: 1,
      group: 3,
      info: 1,
      ioRequest: 2,
      keyval: 10,
      op: 15,
      request: 2,
      win: 1,
    });
  });

  it('stay with their objects until these are forgotten', () => {
    const comms = new HandleNumbers<object>('comm');
    const [world, a, b, c] = [{}, {}, {}, {}];
    comms.define(world, Comm.WORLD);
    expect([world, a, b, a].map((comm) => comms.numberOf(comm))).toEqual([2, 4, 5, 4]);
    comms.forget(a);
    comms.forget(a);
    comms.forget(world);
    expect([c, world].map((comm) => comms.numberOf(comm))).toEqual([4, 6]);
  });

  it('are never given to two at once', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 200 }), (takes) => {
        const requests = new HandleNumbers('request');
        const taken = new Set<number>();
        for (const take of takes) {
          if (take) {
            const number = requests.take();
            expect(taken.has(number)).toBe(false);
            taken.add(number);
          } else {
            const [first] = taken;
            if (first === undefined) continue;
            taken.delete(first);
            requests.release(first);
          }
        }
        expect(Math.max(1, ...taken)).toBeLessThanOrEqual(1 + takes.length);
      }),
    );
  });

  it('end where their field ends, and are taken back once', () => {
    const ops = new HandleNumbers('op');
    for (let number = 15; number <= 255; number++) expect(ops.take()).toBe(number);
    expect(() => ops.take()).toThrow(expect.objectContaining({ field: 'op' }));
    ops.release(100);
    expect(() => {
      ops.release(100);
    }).toThrow('in use');
    expect(ops.take()).toBe(100);
    for (const wrong of [14, 256, 1.5]) {
      expect(() => {
        ops.release(wrong);
      }).toThrow(expect.objectContaining({ field: 'op' }));
    }
    expect(() => new HandleNumbers('nothing' as never)).toThrow('kind');
  });

  it('that are defined are never given to another', () => {
    const comms = new HandleNumbers<object>('comm');
    const [a, b, c] = [{}, {}, {}];
    comms.define(a, 4);
    comms.define(a, 4);
    comms.define(b, 6);
    expect([comms.take(), comms.take(), comms.numberOf(c)]).toEqual([5, 7, 8]);
    for (const taken of [4, 5, 6, 8]) {
      expect(() => {
        comms.define({}, taken);
      }).toThrow(expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE', field: 'comm' }));
    }
    // An object that is defined anew gives its number back, and a free one may be chosen.
    comms.define(a, Comm.SELF);
    comms.define(b, 4);
    expect([a, b].map((comm) => comms.numberOf(comm))).toEqual([3, 4]);
    expect(comms.take()).toBe(6);
  });

  it('that were defined are forgotten and released as others are', () => {
    const comms = new HandleNumbers<object>('comm');
    const [a, b, c] = [{}, {}, {}];
    comms.define(a, 5);
    comms.forget(a);
    comms.define(b, 9);
    comms.release(9);
    expect([comms.take(), comms.take()]).toEqual([4, 5]);
    comms.release(comms.numberOf(c));
    expect(comms.numberOf(a)).toBe(6);
    expect(comms.numberOf(b)).toBe(7);
    expect(comms.numberOf(c)).toBe(8);
    for (const comm of [a, b, c]) comms.forget(comm);
    expect(comms.take()).toBe(8);
  });

  it.each([
    ['comm', 32_768],
    ['comm', -1],
    ['op', 256],
    ['request', 2 ** 31],
    ['win', 1.5],
    ['file', 'foo'],
    ['info', undefined],
  ] as const)('of %s that the field cannot hold are refused: %s', (kind, number) => {
    const numbers = new HandleNumbers(kind);
    const object = {};
    expect(() => {
      numbers.define(object, number as number);
    }).toThrow(expect.objectContaining({ name: 'TracewrightError', field: kind }));
    expect(numbers.numberOf(object)).toBe(numbers.take() - 1);
  });

  it('that are predefined stand for themselves', () => {
    const comms = new HandleNumbers('comm');
    expect([comms.numberOf(Comm.WORLD), comms.numberOf(Comm.NULL)]).toEqual([2, 1]);
    expect([comms.numberOf(4), comms.numberOf(-1), comms.numberOf('2')]).toEqual([4, 5, 6]);
    comms.define(Comm.WORLD, Comm.SELF);
    expect(comms.numberOf(Comm.WORLD)).toBe(3);
  });

  it('are of one living object each, whatever is done with them', () => {
    const action = fc.tuple(
      fc.constantFrom('numberOf', 'define', 'forget', 'release', 'take'),
      fc.nat(7),
      fc.nat(14),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 150 }), (actions) => {
        const comms = new HandleNumbers<object>('comm');
        const objects = Array.from({ length: 8 }, () => ({}));
        const living = new Map<object, number>();
        const taken = new Set<number>();
        const inUse = (): number[] => [...taken, ...living.values()].filter((each) => each >= 4);
        for (const [what, which, number] of actions) {
          const object = objects[which]!;
          if (what === 'numberOf') {
            const given = comms.numberOf(object);
            if (living.has(object)) expect(given).toBe(living.get(object));
            living.set(object, given);
          } else if (what === 'define') {
            const isFree = !inUse().includes(number) || living.get(object) === number;
            if (isFree) {
              comms.define(object, number);
              living.set(object, number);
            } else {
              expect(() => {
                comms.define(object, number);
              }).toThrow('not in use');
            }
          } else if (what === 'forget') {
            comms.forget(object);
            living.delete(object);
          } else if (what === 'take') {
            taken.add(comms.take());
          } else if (inUse().includes(number)) {
            comms.release(number);
            taken.delete(number);
            for (const [each, its] of living) if (its === number) living.delete(each);
          } else {
            expect(() => {
              comms.release(number);
            }).toThrow('in use');
          }
          expect(new Set(inUse()).size).toBe(inUse().length);
        }
        for (const [object, number] of living) expect(comms.numberOf(object)).toBe(number);
      }),
    );
  });
});
