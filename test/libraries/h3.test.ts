import { describe, expect, it } from 'vitest';
import { runLibrary, treeOf } from './traced-library.js';

describe.each(['h3', 'srvx'])('%s', (name) => {
  it.each(['newest', 'oldest'] as const)(
    'has the handler and the middleware of a request below it, %s version',
    async (age) => {
      const { spans, stdout } = await runLibrary('h3', age, name, {}, [name]);
      expect(stdout).toMatch(/200\n200\n500\n404\n$/);
      const tree = (path: string): string[] => {
        const request = spans.find(
          ({ kind, attributes }) => kind === 'server' && attributes['url.path'] === path,
        )!;
        return treeOf(spans, request);
      };
      const order = [
        'middleware log',
        '  handler',
        '    middleware',
        '      authenticate',
        '    handler /orders/:id',
        '      render',
      ];
      // The first request loads what records the others.
      expect(tree('/orders/7')).toEqual(order);
      expect(tree('/orders/8')).toEqual(order);
      expect(tree('/failing').slice(-1)).toEqual(['    handler /failing: E_WANTED']);
      const routes = spans.filter(({ kind }) => kind === 'server').map((span) => span.name);
      expect(routes).toEqual(['GET /orders/:id', 'GET /orders/:id', 'GET /failing', 'GET']);
      const log = spans.find((span) => span.name === 'middleware log')!;
      expect(log.attributes).toEqual({ 'code.function.name': 'log' });
      expect(log.scope).toMatchObject({ name: 'tracewright/srvx' });
      const handler = spans.find((span) => span.name === 'handler /orders/:id')!;
      expect(handler.kind).toBe('internal');
      expect(handler.attributes).toEqual({});
      expect(handler.scope).toMatchObject({ name: 'tracewright/h3' });
    },
  );
});
