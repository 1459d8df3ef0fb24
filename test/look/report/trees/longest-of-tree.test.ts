import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { longestOfTree } from '../../../../src/look/report/trees/longest-of-tree.js';

const row = (name: string, depth: number, duration: number) => ({ name, depth, duration });

describe('longestOfTree', () => {
  it('shows the longest rows, and those above them', () => {
    const rows = [
      row('GET', 0, 100),
      ...Array.from({ length: 30 }, (_, at) => row(`short ${at}`, 1, 1)),
      row('handler', 1, 60),
      row('render', 2, 5),
      row('SELECT', 2, 50),
    ];
    const names = longestOfTree(rows, 3).map(({ name }) => name);
    expect(names).toEqual(['GET', 'handler', 'SELECT']);
    expect(longestOfTree(rows, 34)).toEqual(rows);
  });

  it('returns a tree, of any rows', () => {
    const trees = fc.array(fc.record({ step: fc.nat(3), duration: fc.nat(100) }), { minLength: 1 });
    fc.assert(
      fc.property(trees, fc.integer({ min: 1, max: 20 }), (all, most) => {
        let depth = -1;
        const rows = all.map(({ step, duration }, at) => {
          depth = Math.max(0, depth + 1 - step);
          return row(String(at), depth, duration);
        });
        const shown = longestOfTree(rows, most);
        expect(shown.length).toBeLessThanOrEqual(most);
        expect(shown.length).toBeGreaterThan(0);
        let last = -1;
        for (const each of shown) {
          expect(each.depth).toBeLessThanOrEqual(last + 1);
          last = each.depth;
        }
      }),
    );
  });
});
