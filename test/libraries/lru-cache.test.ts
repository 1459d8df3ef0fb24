import { describe, expect, it } from 'vitest';
import { below, lineOf, runLibrary } from './traced-library.js';

const env = { TRACEWRIGHT_LIBRARIES: 'auto,lru-cache' };

describe('lru-cache', () => {
  it.each(['newest', 'oldest'] as const)('its %s version is recorded on request', async (age) => {
    const { spans } = await runLibrary('lru-cache', age, 'lru-cache', env);
    const lines = (of: string): string[] => below(spans, of).map(lineOf);
    expect(lines('miss')).toEqual(['cache miss']);
    expect(lines('hit')).toEqual([]);
    expect(lines('refresh')).toEqual(['cache refresh']);
    expect(lines('together')).toEqual(['cache miss', 'cache in flight']);
    expect(lines('failing')).toEqual(['cache miss: E_WANTED']);
    const all = spans.filter(({ scope }) => scope?.name === 'tracewright/lru-cache');
    expect(all).toHaveLength(5);
    for (const { start, end, attributes } of all) {
      expect(Number(end - start)).toBeGreaterThan(10e6);
      expect(Object.keys(attributes).filter((name) => name !== 'error.type')).toEqual([]);
    }
  });

  it('is not recorded otherwise', async () => {
    const { spans } = await runLibrary('lru-cache', 'newest', 'lru-cache');
    expect(below(spans, 'miss')).toEqual([]);
  });
});
