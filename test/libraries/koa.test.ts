import { describe, expect, it } from 'vitest';
import { lineOf, requestTo, runLibrary, treeOf } from './traced-library.js';

describe('koa', () => {
  it.each([
    ['newest', 'import'],
    ['oldest', 'require'],
    ['earlier', 'require'],
  ] as const)('its %s version has functions within each other, by %s', async (age, way) => {
    const { spans, stdout } = await runLibrary('koa', age, 'koa', {}, [way]);
    // An error is the application's, as without the hook.
    expect(stdout).toContain('200 shown\n200 shown\n500 Internal Server Error\n500 Internal');
    const tree = (path: string): string[] => treeOf(spans, requestTo(spans, path));
    const order = [
      'middleware authenticate',
      '  middleware',
      '    middleware check',
      '      handler /api/orders/:id',
      '        render',
      '  after',
    ];
    // The first request loads what records the others.
    expect(tree('/api/orders/7')).toEqual(order);
    expect(tree('/api/orders/8')).toEqual(order);
    const passing = ['middleware authenticate', '  middleware', '    middleware check'];
    expect(tree('/api/failing')).toEqual([...passing, '      handler /api/failing: E_WANTED']);
    expect(tree('/api/throwing')).toEqual([...passing, '      handler /api/throwing: TypeError']);
    expect(tree('/api/none')).toContain('    middleware last');
    expect(lineOf(requestTo(spans, '/api/orders/8'))).toBe('GET /api/orders/:id');
    const shown = spans.find(({ name }) => name === 'handler /api/orders/:id')!;
    expect(shown.kind).toBe('internal');
    expect(shown.attributes).toEqual({ 'code.function.name': 'showOrder' });
    expect(shown.scope).toMatchObject({ name: 'tracewright/koa' });
  });
});
