import { describe, expect, it } from 'vitest';
import { likelySides, runsOf } from '../../../../src/look/report/recording/recording-sides.js';
import type { SourceAnswer } from '../../../../src/look/wire/answers.js';

let number = 0;

function source(path: string, service: string, begin: number, format = 'Heph'): SourceAnswer {
  const order = number++;
  const times = { begin, end: begin + 10, clockOffset: '0' };
  const about = service === '' ? {} : { service };
  const content = format === 'ovni' ? 'states of threads' : 'spans';
  return {
    number: order,
    order,
    path,
    format,
    content,
    ...about,
    ...times,
    state: 'ended',
    losses: [],
  } as unknown as SourceAnswer;
}

describe('what is before and after', () => {
  it.each([
    ['two directories', ['a/x.heph shop 0', 'b/x.heph shop 0'], ['a'], ['b']],
    [
      'several services in two directories',
      ['a/x.heph shop 0', 'a/y.heph stock 0', 'b/x.heph shop 0', 'b/y.heph stock 0'],
      ['a · shop', 'a · stock'],
      ['b · shop', 'b · stock'],
    ],
    [
      'two runs in one directory, one after the other',
      ['a/s1 shop 0', 'a/t1 stock 0', 'a/s2 shop 20', 'a/t2 stock 20'],
      ['s1', 't1'],
      ['s2', 't2'],
    ],
    ['processes of one run', ['a/s1 shop 0', 'a/s2 shop 5', 'a/s3 shop 30'], ['s1', 's2'], ['s3']],
    [
      'a directory from the root and one from here',
      ['traces/shop-1/heph/x.heph shop 0', '/runs/second/heph/y.heph shop 20'],
      ['traces'],
      ['second'],
    ],
    [
      'a run in this directory, and another one',
      ['heph/x.heph shop 0', '../a/heph/y.heph shop 20'],
      ['shop'],
      ['a'],
    ],
    ['runs in one another', ['a/heph/x.heph shop 0', 'a/b/heph/y.heph shop 20'], ['a'], ['b']],
    ['different services at once', ['a/s1 shop 0', 'a/t1 stock 0'], [], []],
  ])('of %s', (_, lines, before, after) => {
    const sources = lines.map((line) => {
      const [path, service, begin] = line.split(' ') as [string, string, string];
      return source(path, service, Number(begin));
    });
    // States of threads are no side of their own.
    sources.push(source('a/ovni', '', 0, 'ovni'));
    expect(likelySides(sources, runsOf(sources))).toEqual({ before, after });
  });
});
