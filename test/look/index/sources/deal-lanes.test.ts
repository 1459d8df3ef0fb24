import { describe, expect, it } from 'vitest';
import { dealLanes } from '../../../../src/look/index/sources/deal-lanes.js';
import type { Lanes } from '../../../../src/look/index/sources/lanes.js';

interface Planned {
  start: number;
  duration: number;
  parent: Planned | undefined;
}

/** Requests that overlap, so many at once, each with calls one after the other, and one call below each of these. */
function requestsOf(count: number, atOnce: number): Planned[] {
  return Array.from({ length: count }, (_, i) => {
    const start = (i * 1000) / atOnce;
    const request = { start, duration: 1000, parent: undefined };
    const calls = Array.from({ length: 10 }, (_call, call) => {
      const own = { start: start + 90 * call + 7, duration: 80, parent: request };
      return [own, { start: own.start + 1, duration: 70, parent: own }];
    });
    return [request, ...calls.flat()];
  }).flat();
}

function deal(plan: readonly Planned[]) {
  const rows = plan.toSorted((a, b) => a.start - b.start);
  const numbers = new Map(rows.map((row, number) => [row, number]));
  const columns = {
    start: Float64Array.from(rows, ({ start }) => start),
    duration: Float64Array.from(rows, ({ duration }) => duration),
    track: new Uint32Array(rows.length),
    parent: Int32Array.from(rows, ({ parent }) =>
      parent === undefined ? -1 : numbers.get(parent)!,
    ),
    flags: new Uint8Array(rows.length),
    lane: new Uint16Array(rows.length),
  };
  const lanes = new Map<number, Lanes>();
  const part = {
    count: rows.length,
    firstStart: rows[0]!.start,
    tracks: new Uint32Array(1),
    columns: () => columns,
  };
  const [dealt] = [...dealLanes([part], lanes)];
  const { lane, parent } = dealt!;
  const ends: number[] = [];
  for (const [row, { start, duration }] of rows.entries()) {
    expect(ends[lane[row]!] ?? -Infinity).toBeLessThanOrEqual(start);
    ends[lane[row]!] = start + duration;
  }
  const children = [...lane.keys()].filter((row) => parent[row]! >= 0);
  const direct = children.filter((row) => lane[row]! === lane[parent[row]!]! + 1);
  return { lanes: lanes.get(0)!.count, direct: direct.length / children.length };
}

describe('lanes of a thread', () => {
  it.each([1, 4, 8])('have each child right below its parent: %i requests at once', (atOnce) => {
    const { lanes, direct } = deal(requestsOf(200, atOnce));
    expect(direct).toBeGreaterThan(0.95);
    // Three rows of each may be open at once.
    expect(lanes).toBeLessThanOrEqual(3 * (atOnce + 1));
  });

  it('are hardly more where most requests wait', () => {
    // Calls that are short: most of the time only the requests are open.
    const plan = requestsOf(400, 12).filter(
      ({ parent }) => parent === undefined || parent.start % 3 < 1,
    );
    const { lanes } = deal(plan);
    expect(lanes).toBeLessThanOrEqual(40);
  });

  it('are as many as rows overlap where those are more than a screen shows', () => {
    const { lanes } = deal(requestsOf(2000, 300));
    expect(lanes).toBeGreaterThanOrEqual(300);
    expect(lanes).toBeLessThanOrEqual(3 * 301);
  });
});
