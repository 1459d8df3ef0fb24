import * as nodeModule from 'node:module';
import { describe, expect, it } from 'vitest';
import { requestTo, runLibrary, treeOf } from './traced-library.js';

/** From version 12 on it is made of ES modules, which only newer Nodes let change if `require` loads them. */
const newest = 'registerHooks' in nodeModule ? ['import', 'require'] : ['import'];

describe('nest', () => {
  it.each([
    ...newest.map((way) => ['newest', way] as const),
    ['earlier', 'require'] as const,
    ['oldest', 'require'] as const,
  ])('its %s version has the controller and the method of a handler, by %s', async (age, way) => {
    const { spans, stdout } = await runLibrary('nest', age, '@nestjs/core', {}, [way]);
    expect(stdout).toContain('200\n200\n500\n');
    const handlersOf = (path: string): string[] =>
      treeOf(spans, requestTo(spans, path))
        .map((line) => line.trim())
        .filter((line) => !line.startsWith('middleware'));
    const own = 'handler OrdersController.find';
    expect(handlersOf('/orders/7')).toEqual(['handler /orders/:id', own, 'render']);
    expect(handlersOf('/orders/8')).toEqual(['handler /orders/:id', own, 'render']);
    expect(handlersOf('/orders/failing')).toContain('handler OrdersController.fail: E_WANTED');
    const handler = spans.find(({ name }) => name === own)!;
    expect(handler.attributes).toEqual({ 'code.function.name': 'OrdersController.find' });
    expect(handler.scope).toMatchObject({ name: 'tracewright/nest' });
  });
});
