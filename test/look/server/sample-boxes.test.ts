import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOfName } from '../../../src/look/report/names/code-text.js';
import type { BoxesMeta, SampleColumns } from '../../../src/look/wire/answers.js';
import { decodeColumns } from '../../../src/look/wire/columns.js';
import { configure, shutdown, startSpan } from '../../../src/spans/index.js';
import { PROFILE_DESCRIPTION } from '../../../src/spans/layout.js';
import { Scope } from '../../../src/spans/scope.js';
import { openThreadSpans } from '../../../src/spans/thread-spans.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { Served } from './served.js';

const BEGIN = Date.now() + 60_000;
const MS = 1e6;
const INTERVAL = 10 * MS;
const SECONDS = 200;
/** Calls of the deepest stack: more than are shown. */
const DEEP = 100;

const wall = (ms: number): bigint => BigInt(BEGIN) * 1_000_000n + BigInt(ms * MS);
/** What CLOCK_MONOTONIC lies before the wall clock, in ns. */
const ahead = BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint();
const monotonic = (ms: number): number => Number(wall(ms) - ahead);

interface Second {
  frames: readonly string[];
  nodes: string;
  samples: readonly string[];
  spans?: readonly string[];
}

function record(second: number, { frames, nodes, samples, spans = [] }: Second): void {
  const values = [
    ['interval', INTERVAL],
    ['frames', frames.join('\n')],
    ['nodes', nodes],
    ['samples', samples.join(',')],
    ['spans', spans.join(',')],
    ['lines', ''],
  ] as const;
  const from = monotonic(second * 1000);
  openThreadSpans(new Scope('test', '1'))!.recordNote(
    PROFILE_DESCRIPTION,
    values,
    from,
    from + 1e9,
  );
}

const FRAMES = [
  'at handle (/app/src/shop.js:4:1)',
  'at parse (/app/src/orders.js:11:5)',
  'at total (/app/src/orders.js:20:5)',
  'at read (node:fs:1:1)',
];
const NODES = '0:,1:0,2:0,3:2';
const at = (ms: number, node: number, span = ''): string => `${ms * 1000}:${node}:${span}`;

let served: Served;

beforeAll(async () => {
  const path = `${temporaryDirectory()}/shop.heph`;
  configure({ target: path, service: 'shop' });
  const spans = [0, 100].map((ms) => {
    const span = startSpan('GET /cart', {}, { startTime: wall(ms), parent: null, kind: 'server' });
    span.end(wall(ms + 100));
    return span.ids.span_id;
  });
  // A stall, in which samples came late.
  startSpan('event loop blocked', {}, { startTime: wall(2150), parent: null }).end(wall(2350));
  startSpan('end', {}, { startTime: wall(SECONDS * 1000), parent: null }).end(wall(SECONDS * 1000));
  // Two in parse, a late one and one of Node in total, then an idle time, and one of the next request.
  const samples = [
    ...[at(0, 1, '0'), at(10, 1, '0'), at(20, 2), at(38, 3, '0')],
    ...[at(100, 1, '1'), at(110, 1, '1')],
  ];
  record(0, { frames: FRAMES, nodes: NODES, samples, spans });
  // The next event of the thread goes on where this one ends.
  record(1, {
    frames: FRAMES,
    nodes: NODES,
    samples: [at(500, 1, '0'), at(510, 1, '1'), at(980, 1), at(990, 1)],
    spans,
  });
  const late = [200, 260, 500, 560].map((ms) => at(ms, 1));
  record(2, { frames: FRAMES, nodes: NODES, samples: [at(0, 1), at(10, 1), ...late] });
  const calls = Array.from(
    { length: DEEP },
    (_, depth) => `at f${depth} (/app/deep.js:${depth + 1}:1)`,
  );
  const chain = calls.map((_, depth) => `${depth}:${depth === 0 ? '' : depth - 1}`).join(',');
  record(3, { frames: calls, nodes: chain, samples: [at(0, DEEP - 1)] });
  // Many short ones, and what no writer has written.
  for (let second = 4; second < SECONDS; second++) {
    const busy = Array.from({ length: 99 }, (_, i) => at(i * 10, i % 3));
    record(second, { frames: FRAMES, nodes: NODES, samples: [...busy, '5:99:', 'x:y', '-1:0:7'] });
  }
  await shutdown();
  served = await Served.of(path);
});

afterAll(() => served.close());

const QUESTION = { width: 1000, tracks: '0', budget: 1800, screen: 1000, lanes: 70, names: 0 };

/** @param from in ms after the first request, as is `to`. */
async function boxes(from: number, to: number, more: Partial<typeof QUESTION> = {}) {
  const question = { ...QUESTION, from: from * MS, to: to * MS, ...more };
  const { columns, meta } = decodeColumns(await served.bytes('/data/samples', question));
  const all = columns as unknown as SampleColumns;
  const { names, depths } = meta as BoxesMeta;
  const list = Array.from(all.row, (row, i) => ({
    name: codeOfName(names[all.name[i]!]!).function,
    lane: all.lane[i]!,
    from: all.start[i]! / MS,
    to: all.end[i]! / MS,
    samples: all.samples[i]!,
    span: row === -1 ? null : `${names[all.within[i]!]} at ${all.withinStart[i]! / MS}`,
    count: all.count[i]!,
  }));
  return { list, depths };
}

describe('boxes of CPU samples', () => {
  it('are consecutive samples with the same calls, with what they were of', async () => {
    const { list } = await boxes(0, 200);
    // Clocks are compared when the samples are recorded.
    const zero = list[0]!.from;
    expect(Math.abs(zero)).toBeLessThan(50);
    const shown = list.map(({ name, lane, from, to, samples, span }) => [
      lane,
      name,
      Math.round(from - zero),
      Math.round(to - zero),
      samples,
      span,
    ]);
    expect(shown).toEqual([
      [0, 'handle', 0, 48, 4, 'GET /cart at 0'],
      [0, 'handle', 100, 120, 2, 'GET /cart at 100'],
      [1, 'parse', 0, 20, 2, 'GET /cart at 0'],
      [1, 'total', 20, 48, 2, 'GET /cart at 0'],
      [1, 'parse', 100, 120, 2, 'GET /cart at 100'],
    ]);
    expect(list.every(({ count }) => count === 1)).toBe(true);
  });

  it('go on from one record to the next, and have their whole time in any window', async () => {
    const { list } = await boxes(1995, 2005);
    expect(list.map(({ name, samples }) => [name, samples])).toEqual([
      ['handle', 4],
      ['parse', 4],
    ]);
    expect(Math.round(list[0]!.to - list[0]!.from)).toBe(40);
  });

  it('are of no span where they were of several', async () => {
    const { list } = await boxes(1500, 1515);
    expect(list.map(({ samples, span }) => [samples, span])).toEqual([
      [2, null],
      [2, null],
    ]);
  });

  it('go on where samples were late in a stall, and not over an idle time', async () => {
    const { list } = await boxes(2150, 2700);
    const own = list.filter(({ lane }) => lane === 1);
    expect(own.map(({ from, to, samples }) => [Math.round(to - from), samples])).toEqual([
      [70, 2],
      [10, 1],
      [10, 1],
    ]);
  });

  it('are no deeper than can be shown', async () => {
    const { list, depths } = await boxes(2500, 3500);
    expect(depths).toEqual([64]);
    expect(Math.max(...list.map(({ lane }) => lane))).toBe(63);
    expect(list.find(({ lane }) => lane === 63)!.name).toBe('f63');
  });

  it('merge until a screen has no more than it can show, and count what they merge', async () => {
    const one = await boxes(4000, 5000);
    const all = await boxes(0, SECONDS * 1000, { budget: 300 });
    expect(all.list.length).toBeLessThan(600);
    expect(all.list.length).toBeGreaterThan(10);
    const counted = all.list.reduce((sum, { count }) => sum + count, 0);
    expect(counted).toBeGreaterThan((SECONDS - 10) * one.list.length * 0.9);
    expect(counted).toBeLessThan(SECONDS * one.list.length * 1.1);
  });

  it.each([
    ['a track that there is not', { tracks: '0-5' }, /tracks must be numbers below/],
    ['no pixels', { width: 0 }, /width must be a number from 1/],
    ['too many pixels', { width: 1e9 }, /width must be a number from 1/],
    ['half a pixel', { width: 1.5 }, /width must be an integer/],
    ['a window that ends before it begins', { from: 2, to: 1 }, /from must be before to/],
    ['a window without an end', { from: 0, to: 'Infinity' }, /to must be a number/],
    ['no budget', { budget: -1 }, /budget must be/],
    ['a negative count of names', { names: -1 }, /names must be/],
  ])('are refused for %s', async (_, wrong, words) => {
    const question = { ...QUESTION, from: 0, to: 1e9, ...wrong };
    await expect(served.text('/data/samples', question)).rejects.toThrow(words);
  });

  it('are none where nothing ran, and of no tracks', async () => {
    expect((await boxes(60, 90)).list).toEqual([]);
    expect((await boxes(0, 1e9, { tracks: '' })).list).toEqual([]);
    expect((await boxes(-1e12, -1e11)).list).toEqual([]);
  });
});
