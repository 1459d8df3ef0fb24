import { describe, expect, it } from 'vitest';
import { lineOf, requestTo, runLibrary, treeOf } from './traced-library.js';

const isOld = Number.parseInt(process.versions.node) < 22;
/** By `import` it is made of ES modules. */
const ways = ['import', 'require'] as const;

/** The server package of hono 3 prints on newer Nodes that it misses a part of `Response`. */
const ages = isOld ? (['newest', 'oldest', 'earlier'] as const) : (['newest', 'oldest'] as const);

describe('hono', () => {
  it.each([
    ...ways.flatMap((way) => ages.map((age) => [age, way, '--import'] as const)),
    ['newest', 'import', '-r'] as const,
  ])(
    'its %s version has functions within each other, by %s, with the hook by %s',
    async (age, way, hook) => {
      const { spans, stdout } = await runLibrary('hono', age, 'hono', {}, [way], hook);
      expect(stdout).toContain(
        '200 shown\n200 shown\n500 failed\n200 alone\n500 failed\n500 failed',
      );
      const tree = (path: string): string[] => treeOf(spans, requestTo(spans, path));
      const order = ['middleware authenticate', '  handler /api/orders/:id', '    render'];
      // The first request loads what records the others.
      expect(tree('/api/orders/7')).toEqual(order);
      expect(tree('/api/orders/8')).toEqual(order);
      // Here the error is handled within what the application within another one is called by.
      expect(tree('/api/failing')).toEqual(['middleware authenticate', '  handler /api/failing']);
      expect(tree('/alone')).toEqual(['handler /alone']);
      expect(tree('/throwing')).toEqual(['handler /throwing: TypeError']);
      expect(tree('/rejecting')).toEqual(['handler /rejecting: E_WANTED']);
      expect(tree('/none')).toEqual([]);
      expect(lineOf(requestTo(spans, '/api/orders/8'))).toBe('GET /api/orders/:id');
      const shown = spans.find(({ name }) => name === 'handler /api/orders/:id')!;
      expect(shown.kind).toBe('internal');
      expect(shown.attributes).toEqual({ 'code.function.name': 'showOrder' });
      expect(shown.scope).toMatchObject({ name: 'tracewright/hono' });
    },
  );
});
