import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../../cpu-time.js';
import { traceTree } from '../../../../src/look/report/trees/trace-tree.js';
import { waitedText } from '../../../../src/look/report/print/report-texts.js';
import type { SlowTrace, TreeSpan } from '../../../../src/look/report/shape/trace-shape.js';

function span(name: string, parent: number, start: number, end: number): TreeSpan {
  const missingParent = false;
  return {
    kind: 'span',
    name,
    system: null,
    target: null,
    parent,
    isRemote: false,
    start,
    end,
    service: null,
    status: 'unset',
    unfinished: false,
    missingParent,
    stalls: 0,
    collections: 0,
  };
}

/** Spans whose parents are earlier ones, later ones or none. */
const anySpans = fc
  .array(
    fc.record({
      parent: fc.integer({ min: -1, max: 30 }),
      start: fc.nat(1000),
      length: fc.nat(500),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((all) =>
    all.map(({ parent, start, length }, at) =>
      span(`s${at % 4}`, parent < all.length ? parent : -1, start, start + length),
    ),
  );

describe('traceTree', () => {
  const request = [
    span('GET /orders', -1, 0, 100),
    span('load', 0, 10, 40),
    span('fetch', 0, 30, 90),
    span('parse', 2, 80, 90),
  ];

  it('takes a child that ends just after the next one has begun for an earlier one', () => {
    const spans = [
      span('GET', -1, 0, 2000),
      span('connect', 0, 0, 1010),
      span('query', 0, 1000, 2000),
    ];
    const waited = traceTree(spans, 0, 100).rows.map((row) => [row.name, row.waited]);
    expect(waited).toEqual([
      ['GET', 0],
      ['connect', 1000],
      ['query', 1000],
    ]);
    spans[1]!.end = 1200;
    const apart = traceTree(spans, 0, 100).rows.map((row) => row.waited);
    expect(apart).toEqual([1000, 0, 1000]);
  });

  it('goes on below a span that has ended while the one above it waits', () => {
    const spans = [
      span('GET', -1, 0, 100),
      span('proxy', 0, 0, 5),
      span('page', 1, 4, 95),
      span('query', 2, 20, 90),
      span('late', 2, 90, 200),
    ];
    const waited = traceTree(spans, 0, 100).rows.map((row) => [row.name, row.waited]);
    expect(waited).toEqual([
      ['GET', 0],
      ['proxy', 4],
      ['page', 16],
      ['query', 70],
      ['late', 10],
    ]);
  });

  it('says what a span did itself, and what it waited for', () => {
    const { rows, waitedFor, omitted } = traceTree(request, 0, 100);
    expect(rows.map(({ depth, name, self, waited }) => [depth, name, self, waited])).toEqual([
      [0, 'GET /orders', 20, 40],
      [1, 'load', 30, 0],
      [1, 'fetch', 50, 50],
      [2, 'parse', 10, 10],
    ]);
    expect(waitedFor.map(({ name, time, share }) => [name, time, share])).toEqual([
      ['fetch', 50, 0.5],
      ['GET /orders', 40, 0.4],
      ['parse', 10, 0.1],
    ]);
    expect(omitted).toBe(0);
  });

  it('waits for a call that outlives its parent', () => {
    // As Express: a handler that does not return its promise ends at once.
    const spans = [
      span('GET', -1, 0, 100),
      span('router', 0, 1, 4),
      span('handler', 1, 2, 3),
      span('SELECT', 2, 3, 40),
      span('UPDATE', 2, 50, 90),
    ];
    const shown = (): unknown[] =>
      traceTree(spans, 0, 100).rows.map((row) => [row.name, row.self, row.waited]);
    expect(shown()).toEqual([
      ['GET', 21, 21],
      ['router', 1, 1],
      ['handler', 1, 1],
      ['SELECT', 37, 37],
      ['UPDATE', 40, 40],
    ]);
    // Nobody waits for what a message has set off.
    spans[4]!.isRemote = true;
    expect(shown().slice(0, 1)).toEqual([['GET', 61, 61]]);
  });

  it('puts many siblings of one name into one row', () => {
    const queries = Array.from({ length: 12 }, (_, n) => span('SELECT', 0, 2 * n, 2 * n + 1));
    const { rows, omitted } = traceTree([span('GET', -1, 0, 30), ...queries], 0, 100);
    expect(rows.map(({ name, repeated, duration }) => [name, repeated, duration])).toEqual([
      ['GET', 1, 30],
      ['SELECT', 12, 12],
    ]);
    expect(omitted).toBe(0);
  });

  it('has every span once, whatever the parents are', () => {
    fc.assert(
      fc.property(anySpans, (spans) => {
        const { rows } = traceTree(spans, 0, 1000);
        const whole = rows.reduce((sum, { repeated }) => sum + repeated, 0);
        // Below a row of several siblings there is nothing.
        expect(whole + traceTree(spans, 0, 1000).omitted).toBe(spans.length);
        for (const row of rows) {
          expect(row.self).toBeGreaterThanOrEqual(0);
          expect(row.self).toBeLessThanOrEqual(row.duration);
        }
      }),
    );
  });

  it('shares the whole time of the slow span', () => {
    fc.assert(
      fc.property(anySpans, (spans) => {
        const { rows, omitted } = traceTree(spans, 0, 1000);
        if (omitted > 0) return;
        const waited = rows.reduce((sum, row) => sum + row.waited, 0);
        expect(waited).toBeCloseTo(spans[0]!.end - spans[0]!.start);
      }),
    );
  });

  it('says that own time is no wait, and names it last', () => {
    const spans = [span('GET /a', -1, 0, 1000), span('SELECT', 0, 0, 400)];
    const textOf = (some: readonly TreeSpan[]): string | undefined => {
      const { waitedFor } = traceTree(some, 0, 200);
      return waitedText({ waitedFor, service: null } as SlowTrace);
    };
    expect(textOf(spans)).toBe('waited for SELECT 400 ns (40 %), own time 600 ns (60 %)');
    expect(textOf(spans.slice(0, 1))).toBe('own time 1 µs (100 %)');
  });

  it('takes time that is linear in the spans, for circles, chains and wide trees', () => {
    const count = 100_000;
    const shapes = {
      circle: (at: number) => (at + 1) % count,
      chain: (at: number) => at - 1,
      wide: (at: number) => (at === 0 ? -1 : 0),
      'circle with a fringe': (at: number) => (at < 2 ? 1 - at : 0),
    };
    for (const parentOf of Object.values(shapes)) {
      const spans = Array.from({ length: count }, (_, at) =>
        span(`s${at}`, parentOf(at), count - at, 2 * count),
      );
      const from = cpuMs();
      const { rows, omitted } = traceTree(spans, 0, 200);
      expect(rows.length + omitted).toBe(count);
      expect(cpuMs() - from).toBeLessThan(20_000);
    }
  });
});
