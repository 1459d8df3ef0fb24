import { describe, expect, it } from 'vitest';
import { certifiedDirectory } from './certificate.js';
import { below, lineOf, runLibrary } from './traced-library.js';

/** The newest version needs Node 22. */
const ages =
  Number.parseInt(process.versions.node) >= 22
    ? (['newest', 'oldest'] as const)
    : (['oldest'] as const);

describe('undici', () => {
  it.each(ages)('has one span for each request that its %s version sends', async (age) => {
    const { spans } = await runLibrary('undici', age, 'undici', {}, [certifiedDirectory()]);
    // On a busy machine a connection takes a millisecond to be made, which is a wait for the pool.
    const sent = (of: string): [string, unknown][] =>
      below(spans, of)
        .filter(({ name }) => name !== 'http pool')
        .map((span) => [lineOf(span), String(span.attributes['url.full']).replace(/:\d{3,}/, '')]);
    expect(sent('request')).toEqual([['GET', 'http://127.0.0.1/a']]);
    expect(sent('fetch')).toEqual([['GET', 'http://127.0.0.1/b']]);
    expect(sent('posted')).toEqual([['POST', 'http://127.0.0.1/c']]);
    expect(sent('stream')).toEqual([['GET', 'http://127.0.0.1/d']]);
    expect(sent('retry')).toEqual([
      ['GET: 503', 'http://127.0.0.1/retry'],
      ['GET', 'http://127.0.0.1/retry'],
    ]);
    expect(sent('http2')).toEqual([['GET', 'https://127.0.0.1/e']]);
    expect(sent('refused')).toEqual([['GET: ECONNREFUSED', 'http://127.0.0.1:1/']]);
    const holder = spans.find(({ name }) => name === 'ask /slow');
    expect(below(spans, 'ask /waiting').map(lineOf)).toEqual(['http pool', 'GET']);
    const [wait] = below(spans, 'ask /waiting');
    expect(Number(wait!.end - wait!.start)).toBeGreaterThan(90e6);
    expect(wait!.links).toMatchObject([{ traceId: holder!.traceId, spanId: holder!.spanId }]);
    expect(Number(wait!.links[0]!.attributes['tracewright.pool.held'])).toBeGreaterThan(90e6);
    for (const span of spans.filter(({ kind }) => kind === 'client')) {
      expect(span.scope?.name).toBe('tracewright/register');
      expect(span.unfinished).toBe(false);
    }
  });
});
