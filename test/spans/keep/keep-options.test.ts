import { expect, test } from 'vitest';
import { checkKeep } from '../../../src/spans/keep/keep-options.js';
import { parseKeep } from '../../../src/spans/keep/keep-variable.js';

test('the variable says what the options say', () => {
  const parsed = parseKeep(
    'slower:500ms, slower:/checkout=200ms,slower:/search=p95,errors:any,ratio:0.01,first:100,stalls:200ms,limit:50/s',
  );
  expect(parsed.slow).toEqual({ ns: 500e6, percent: 0 });
  expect([...parsed.routes]).toEqual([
    ['/checkout', { ns: 200e6, percent: 0 }],
    ['/search', { ns: Infinity, percent: 95 }],
  ]);
  expect(parsed).toMatchObject({
    stalls: 200e6,
    errors: 'any',
    ratio: 0.01,
    first: 100,
    limit: 50,
  });
  expect(parseKeep(parsed.text)).toEqual(parsed);
  const checked = checkKeep({ slowerThan: 500, stalls: 300, errors: true, ratio: 0.5 });
  expect(checked.text).toBe('slower:500ms,stalls:300ms,errors,ratio:0.5,limit:100/s');
  expect(parseKeep('slower:500ms,slower:p99').slow).toEqual({ ns: 500e6, percent: 99 });
  expect(parseKeep('errors,limit:off').limit).toBe(Infinity);
});

test.each([
  ['slowr:500ms', 'did you mean "slower"'],
  ['slower:fast', 'a duration such as 500ms'],
  ['slower:500', 'a duration such as 500ms'],
  ['slower:/checkout:200ms', 'of one route slower:/path=200ms'],
  ['slower:500ms;ratio:1', 'terms have commas between them'],
  ['slower:p0', 'a percentile such as p99'],
  ['stalls:200', 'a duration such as 200ms'],
  ['errors:all', 'errors or errors:any'],
  ['ratio:2', 'a number from 0 to 1'],
  ['first:some', 'a number of requests'],
  ['limit:100', 'a number a second such as 100/s'],
])('%s is told with the right spelling', (term, advice) => {
  const parse = (): unknown => parseKeep(`errors,${term}`);
  expect(parse).toThrow(advice);
  expect(parse).toThrow(
    expect.objectContaining({ field: 'TRACEWRIGHT_KEEP', value: term }) as Error,
  );
});

test.each([
  [{ ratio: 2 }, 'keep.ratio'],
  [{ slowerThan: 'slow' as 'p99' }, 'keep.slowerThan'],
  [{ slowerThan: { '/x': -1 } }, 'keep.slowerThan["/x"]'],
  [{ stalls: '1' as unknown as number }, 'keep.stalls'],
  [{ errors: 'some' as 'any' }, 'keep.errors'],
  [{ first: -1 }, 'keep.first'],
  [{ limit: 0 }, 'keep.limit'],
  [{ waitingBytes: 1 }, 'keep.waitingBytes'],
  [{ slower: 1 }, 'keep option'],
])('a wrong option is named: %j', (options, field) => {
  expect(() => checkKeep(options as object)).toThrow(expect.objectContaining({ field }) as Error);
});
