import { describe, expect, it } from 'vitest';
import { openLookIndex } from '../../../../src/look/index/open-look-index.js';
import type { LookIndex } from '../../../../src/look/index/look-index.js';
import { encodeEpoch } from '../../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../../heph/temporary-file.js';
import { encodeResource, encodeSpan, randomNumbers } from '../../../export/span-file.js';

const directory = temporaryDirectory();
const EPOCH = 1_700_000_000_000_000_000n;
/** Sampled, a server's, and of the resource 1. */
const SERVER = 1n | (1n << 8n) | (1n << 16n);
const HEAD = [encodeEpoch(EPOCH), encodeResource({ 'service.name': 'shop', 'process.pid': 7n })];

/** Requests that overlap, some with a parent among those before. */
function requests(count: number): Buffer[] {
  const below = randomNumbers(5);
  return Array.from({ length: count }, (_, i) => {
    const id = BigInt(i + 1);
    const end = BigInt(i + 1) * 1000n;
    const start = end - BigInt(below(Math.min(Number(end), 20_000)) + 1);
    const parent = i > 0 && below(4) === 0 ? BigInt(below(i) + 1) : 0n;
    return encodeSpan({ id, parent, start, end, thread: below(2), flags: SERVER });
  });
}

/** What an index shows, whatever its files are. */
function shownBy(index: LookIndex): unknown {
  const rows = index.parts.flatMap((part) =>
    Array.from({ length: part.count }, (_, at) => {
      const { spanId: id, start, end } = index.span(part.firstRow + at)!;
      const parent = part.parent[at]!;
      return {
        id,
        start,
        end,
        track: part.track[at],
        parent: parent < 0 ? parent : index.span(parent)!.spanId,
      };
    }),
  );
  return {
    rows: rows.sort((a, b) => Number(a.start - b.start) || (a.id < b.id ? -1 : 1)),
    // A parent in another piece is not known when lanes are given: there may be others.
    tracks: index.tracks.map((track) => ({ ...track, lanes: undefined })),
    counters: index.counters.map(({ name, times, values }) => ({ name, times, values })),
    length: index.length,
  };
}

function overlapsIn({ parts }: LookIndex): number {
  const rows = parts.flatMap((part) =>
    Array.from({ length: part.count }, (_, at) => ({
      lane: `${part.track[at]!} ${part.lane[at]!}`,
      start: part.start[at]!,
      end: part.start[at]! + part.duration[at]!,
    })),
  );
  rows.sort((a, b) => a.start - b.start);
  const ends = new Map<string, number>();
  let overlaps = 0;
  for (const { lane, start, end } of rows) {
    if ((ends.get(lane) ?? -Infinity) > start) overlaps++;
    ends.set(lane, end);
  }
  return overlaps;
}

describe('the pieces of a trace that rotates', () => {
  it.each([
    ['nothing', () => []],
    ['a span, and not yet a clock', () => requests(1)],
  ])('are one source with one that has just begun and has %s', async (what, begun) => {
    const run = `begun ${what.length}`;
    const first = writeTrace(directory, `${run}/shop.000001.heph`, ...HEAD, ...requests(9));
    const second = writeTrace(directory, `${run}/shop.000002.heph`, ...begun());
    const index = await openLookIndex([first, second], { cache: false });
    expect(index.sources).toMatchObject([{ service: 'shop', pid: 7 }]);
  });

  it('are one source: tracks, parents and curves are those of one file', async () => {
    const spans = requests(300);
    const whole = writeTrace(directory, 'whole.heph', ...HEAD, ...spans);
    const pieces = [0, 1, 2].map((piece) => {
      const own = spans.slice(100 * piece, 100 * (piece + 1));
      return writeTrace(directory, `run/shop.00000${piece + 1}.heph`, ...HEAD, ...own);
    });
    const one = await openLookIndex([whole], { cache: false });
    const joined = await openLookIndex(pieces, { cache: false });
    expect(joined.sources).toMatchObject([{ service: 'shop', pid: 7, state: 'ended', losses: [] }]);
    expect(joined.sources[0]!.path).toMatch(/run.shop\.heph$/);
    expect(shownBy(joined)).toEqual(shownBy(one));
    expect([overlapsIn(one), overlapsIn(joined)]).toEqual([0, 0]);
    // Another process of the same name is a source of its own.
    writeTrace(directory, 'run/shop.000004.heph', encodeEpoch(EPOCH + 9n), HEAD[1]!, spans[0]!);
    const both = await openLookIndex([`${directory}/run`], { cache: false });
    expect(both.sources).toHaveLength(2);
    for (const index of [one, joined, both]) index.close();
  });
});

describe('requests in flight', () => {
  const steps = (at: number, requestsOf: [number, number][]): number =>
    requestsOf.filter(([start, end]) => start <= at && at < end).length;

  it('are counted exactly', async () => {
    const times: [number, number][] = [
      [0, 50],
      [10, 20],
      [10, 60],
      [60, 70],
    ];
    const spans = times.map(([start, end], i) =>
      encodeSpan({ id: BigInt(i + 1), start: BigInt(start), end: BigInt(end), flags: SERVER }),
    );
    const inner = encodeSpan({ id: 99n, start: 5n, end: 65n });
    const path = writeTrace(directory, 'few.heph', ...HEAD, ...spans, inner);
    const index = await openLookIndex([path], { cache: false });
    const [counter] = index.counters;
    expect(counter).toMatchObject({ name: 'requests in flight', unit: 'requests', source: 0 });
    expect([...counter!.times]).toEqual([0, 10, 20, 50, 60, 70]);
    expect([...counter!.values]).toEqual([...counter!.times].map((at) => steps(at, times)));
    index.close();
  });

  it('are means where there are many, with the same total', async () => {
    const spans = requests(40_000);
    const path = writeTrace(directory, 'many.heph', ...HEAD, ...spans);
    const index = await openLookIndex([path], { cache: false });
    const { times, values } = index.counters[0]!;
    const spent = index.parts.reduce(
      (sum, { duration }) => duration.reduce((total, each) => total + each, sum),
      0,
    );
    let shown = 0;
    for (let at = 0; at + 1 < times.length; at++)
      shown += values[at]! * (times[at + 1]! - times[at]!);
    expect(shown / spent).toBeCloseTo(1, 6);
    expect(Math.min(...values)).toBeGreaterThanOrEqual(-1e-9);
    expect(values.at(-1)).toBe(0);
    index.close();
  });
});
