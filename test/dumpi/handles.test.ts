import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Comm } from '../../src/dumpi/constants.js';
import { createHandles, HandleNumbers } from '../../src/dumpi/handles.js';

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
});
