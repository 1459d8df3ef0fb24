import { describe, expect, it } from 'vitest';
import { below, runLibrary, treeOf } from './traced-library.js';

describe('graphql', () => {
  it.each(['newest', 'oldest'] as const)('its %s version is recorded', async (age) => {
    const { spans, stdout } = await runLibrary('graphql', age, 'graphql');
    expect(stdout).toContain('tick 1');
    const tree = (of: string): string[] =>
      treeOf(
        spans,
        spans.find(({ name }) => name === of)!,
      ).filter(
        // Recorded where the machine was slow.
        (line) => line !== 'graphql parse' && line !== 'graphql validate',
      );
    expect(tree('first')).toEqual(['query', '  load']);
    expect(tree('again')).toEqual(['query', '  load']);
    expect(tree('renaming')).toEqual(['mutation']);
    expect(tree('failing')).toEqual(['query: E_WANTED']);
    // The caller may not have it: the server has not failed.
    expect(tree('denied')).toEqual(['query']);
    // Neither does a wrong document of the caller make a failure.
    expect(tree('syntax')).toEqual([]);
    expect(tree('invalid')).toEqual([]);
    expect(tree('direct')).toEqual(['query', '  load']);
    expect(tree('subscribe').slice(0, 1)).toEqual(['subscription']);
    const query = below(spans, 'again').find(({ name }) => name === 'query')!;
    expect(query.attributes).toEqual({
      'graphql.operation.type': 'query',
      'graphql.operation.name': 'GetUser',
    });
    expect(query.scope).toMatchObject({ name: 'tracewright/graphql' });
  });

  it.each(['earlier', 'ancient'] as const)('its %s version is recorded, too', async (age) => {
    const { spans, stdout } = await runLibrary('graphql', age, 'graphql');
    expect(stdout).toContain('tick 1');
    const tree = (of: string): string[] =>
      treeOf(
        spans,
        spans.find(({ name }) => name === of)!,
      );
    expect(tree('first')).toEqual(['query', '  load']);
    expect(tree('again')).toEqual(['query', '  load']);
    expect(tree('renaming')).toEqual(['mutation']);
    expect(tree('failing')).toEqual(['query: E_WANTED']);
    // The caller may not have it: the server has not failed.
    expect(tree('denied')).toEqual(['query']);
    expect(tree('direct')).toEqual(['query', '  load']);
    expect(tree('subscribe')[0]).toBe('subscription');
    const query = below(spans, 'again').find(({ name }) => name === 'query')!;
    expect(query.attributes).toEqual({
      'graphql.operation.type': 'query',
      'graphql.operation.name': 'GetUser',
    });
    expect(query.scope).toMatchObject({ name: 'tracewright/graphql' });
  });

  it('has resolvers on request', async () => {
    const env = { TRACEWRIGHT_LIBRARIES: 'auto,graphql:resolve' };
    const { spans } = await runLibrary('graphql', 'newest', 'graphql', env);
    const again = spans.find(({ name }) => name === 'again')!;
    const lines = treeOf(spans, again).filter((line) => !/^graphql /.test(line));
    expect(lines.slice(0, 1)).toEqual(['query']);
    expect(lines.at(-1)!.trim()).toBe('load');
  });
});
