import { describe, expect, it } from 'vitest';
import { lineOf, requestTo, runLibrary, treeOf } from './traced-library.js';

describe('express 4', () => {
  it.each([
    ['earlier', 'import'],
    ['oldest', 'require'],
  ] as const)('the %s version has functions one after the other, by %s', async (age, way) => {
    const { spans, stdout } = await runLibrary('express4', age, 'express', {}, [way]);
    expect(stdout).toContain('200 shown true\n200 shown true\n500 failed\n500 failed\n200 next');
    const tree = (path: string): string[] => treeOf(spans, requestTo(spans, path));
    const before = ['middleware authenticate', 'middleware load'];
    const order = [...before, 'param id', 'handler /orders/:id', '  render'];
    // The first request loads what records the others.
    expect(tree('/api/orders/7')).toEqual(order);
    expect(tree('/api/orders/8')).toEqual(order);
    // What is handed to `next` is no error of the function.
    expect(tree('/api/failing')).toEqual([...before, 'handler /failing', 'error handler report']);
    expect(tree('/api/throwing')).toEqual([
      ...before,
      'handler /throwing: TypeError',
      'error handler report',
    ]);
    expect(tree('/api/next')).toEqual([...before, 'handler /next', 'handler /next']);
    expect(tree('/api/none')).toEqual(before);
    expect(lineOf(requestTo(spans, '/api/orders/8'))).toBe('GET /api/orders/:id');
    const shown = spans.find(({ name }) => name === 'handler /orders/:id')!;
    expect(shown.attributes).toEqual({ 'code.function.name': 'showOrder' });
    expect(shown.scope).toMatchObject({ name: 'tracewright/express4' });
  });
});
