import { describe, expect, it } from 'vitest';
import { below, lineOf, runLibrary } from './traced-library.js';

describe('got', () => {
  it.each(['newest', 'oldest'] as const)(
    'has one span for each request that its %s version sends',
    async (age) => {
      const { spans } = await runLibrary('got', age, 'got');
      const sent = (of: string): [string, unknown][] =>
        below(spans, of).map((span) => [lineOf(span), span.attributes['url.full']]);
      const base = /^http:\/\/127\.0\.0\.1:\d+/.exec(String(sent('plain')[0]![1]))![0];
      expect(sent('plain')).toEqual([['GET', `${base}/plain`]]);
      expect(sent('posted')).toEqual([['POST', `${base}/posted`]]);
      expect(sent('retry')).toEqual([
        ['GET: 503', `${base}/retry`],
        ['GET', `${base}/retry`],
      ]);
      expect(sent('moved')).toEqual([
        ['GET', `${base}/moved`],
        ['GET', `${base}/plain`],
      ]);
      expect(sent('missing')).toEqual([['GET: 404', `${base}/missing`]]);
      expect(sent('refused')).toEqual([['GET: ECONNREFUSED', 'http://127.0.0.1:1/']]);
      const clients = spans.filter(({ kind }) => kind === 'client');
      expect(clients).toHaveLength(8);
      for (const { scope } of clients) expect(scope?.name).toBe('tracewright/register');
    },
  );
});
