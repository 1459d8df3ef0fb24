import { describe, expect, it } from 'vitest';
import { lineOf, requestTo, runLibrary, treeOf } from './traced-library.js';

describe('express', () => {
  it.each(['newest', 'ancient'] as const)(
    'its %s version has the functions of a request one after the other below it',
    async (age) => {
      const { spans, stdout } = await runLibrary('express', age, 'router');
      expect(stdout).toContain('200 shown true');
      const tree = (path: string): string[] => treeOf(spans, requestTo(spans, path));
      const before = ['middleware authenticate', 'middleware load'];
      const order = ['param id', 'handler /orders/:id', '  render'];
      // The first request loads what records the others.
      expect(tree('/api/orders/7')).toEqual([...before, ...order]);
      expect(tree('/api/orders/8')).toEqual([...before, ...order]);
      expect(tree('/api/failing')).toEqual([
        ...before,
        'handler /failing: E_WANTED',
        'error handler report',
      ]);
      expect(tree('/api/throwing')).toEqual([
        ...before,
        'handler /throwing: TypeError',
        'error handler report',
      ]);
      expect(tree('/api/next')).toEqual([...before, 'handler /next', 'handler /next']);
      expect(tree('/api/none')).toEqual(before);
      expect(lineOf(requestTo(spans, '/api/orders/8'))).toBe('GET /api/orders/:id');

      const all = spans.filter(({ scope }) => scope?.name === 'tracewright/express');
      for (const span of all) {
        expect(span.kind).toBe('internal');
        const parts = span.events.flatMap(({ attributes }) => Object.keys(attributes));
        expect(parts).not.toContain('exception.message');
      }
      const shown = all.find(({ name }) => name === 'handler /orders/:id')!;
      expect(shown.attributes).toEqual({ 'code.function.name': 'showOrder' });
      // A function has ended when the next one begins.
      const [first, second] = all
        .filter(({ traceId }) => traceId === shown.traceId)
        .sort((a, b) => (a.start < b.start ? -1 : 1));
      expect(first!.end).toBeLessThanOrEqual(second!.start);
    },
  );

  it('is not recorded when it is switched off', async () => {
    for (const libraries of ['off', 'fastify,redis']) {
      const { spans } = await runLibrary('express', 'newest', 'router', {
        TRACEWRIGHT_LIBRARIES: libraries,
      });
      expect(treeOf(spans, requestTo(spans, '/api/orders/8'))).toEqual(['render']);
    }
  });
});
