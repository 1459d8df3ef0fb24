import { describe, expect, it } from 'vitest';
import { runLibrary, treeOf } from './traced-library.js';

describe('fastify', () => {
  it.each(['newest', 'oldest', 'earlier', 'ancient', 'first'] as const)(
    'has the handler of a request below it, %s version',
    async (age) => {
      const { spans, stdout } = await runLibrary('fastify', age, 'fastify');
      expect(stdout).toMatch(/200\n200\n500\n500\n200\n404\n$/);
      const requests = spans.filter(({ kind }) => kind === 'server');
      expect(requests.map(({ name }) => name).sort()).toEqual([
        'GET',
        'GET /callback',
        'GET /failing',
        'GET /orders/:id',
        'GET /orders/:id',
        'GET /throwing',
      ]);
      const tree = (path: string): string[] => {
        const request = spans.find(
          ({ kind, attributes }) => kind === 'server' && attributes['url.path'] === path,
        )!;
        return treeOf(spans, request);
      };
      // The first request loads what records the others.
      expect(tree('/orders/7')).toEqual(['handler /orders/:id', '  render']);
      expect(tree('/orders/8')).toEqual(['handler /orders/:id', '  render']);
      expect(tree('/failing')).toEqual(['handler /failing: E_WANTED']);
      expect(tree('/throwing')).toEqual(['handler /throwing: TypeError']);
      expect(tree('/callback')).toEqual(['handler /callback']);
      expect(tree('/none')).toEqual([]);
      const handler = spans.find((span) => span.name === 'handler /orders/:id')!;
      expect(handler.kind).toBe('internal');
      expect(handler.attributes).toEqual({ 'code.function.name': 'showOrder' });
      expect(handler.scope).toMatchObject({ name: 'tracewright/fastify' });
    },
  );

  // Before 3.29 Fastify publishes no instance that could get a hook.
  it.each(['newest', 'oldest', 'earlier', 'ancient'] as const)(
    'has the route of what hooks and schemas refuse, and calls no hook without need, %s version',
    async (age) => {
      const { spans, stdout } = await runLibrary('fastify-hooks', age, 'fastify');
      expect(JSON.parse(stdout.split('\n')[1]!)).toEqual(['200 at once', '403 refused', '400']);
      const requests = spans.filter(({ kind }) => kind === 'server').map(({ name }) => name);
      expect(requests.sort()).toEqual(['GET /checked/:id', 'GET /plain/:id', 'GET /refused/:id']);
    },
  );
});
