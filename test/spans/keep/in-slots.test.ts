import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recoverTrace } from '../../../src/heph/read/recover.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import { runFixture } from '../../fixtures/run-fixture.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import type { SpanRecord } from '../../../src/spans/span-record.js';
import { allSpans } from '../span-trace.js';

const directory = temporaryDirectory();
const CHILDREN = 4;
const COUNT = 200;
/** The process was last alive more than a second after its spans had ended. */
const LATEST_END_MS = 1000;

interface Ended {
  spans: SpanRecord[];
  target: string;
  signal: NodeJS.Signals | null;
}

async function run(end: string, openSpans: number | undefined): Promise<Ended> {
  const target = join(directory, `${end} ${openSpans}.heph`);
  const { signal, stderr } = await runFixture('spans/keep-in-slots.mjs', {
    input: {
      target,
      end,
      count: COUNT,
      ...(openSpans === undefined ? {} : { openSpans: { count: openSpans } }),
    },
  });
  expect(stderr).toBe('');
  return { spans: await allSpans(target), target, signal };
}

/** In milliseconds. */
function durationOf({ start, end }: SpanRecord): number {
  return Number(end - start) / 1e6;
}

/** Each child of a request is there once, as it has ended. */
function checkChildren(spans: readonly SpanRecord[], requests: number): void {
  const children = spans.filter(({ name }) => name === 'query');
  expect(children).toHaveLength(CHILDREN * requests);
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  for (const span of children) {
    const { attributes } = span;
    expect(span.unfinished).toBe(false);
    expect(durationOf(span)).toBeLessThan(LATEST_END_MS);
    expect(attributes['rows']).toBe(attributes['i'] === 1 ? attributes['n'] : undefined);
  }
}

/** More slots than spans, and fewer than requests: then what has ended makes room for what has not. */
const SLOTS = [undefined, 100] as const;

test.each(SLOTS)('spans that wait are kept with their root, with %s slots', async (openSpans) => {
  const { spans, target } = await run('slow', openSpans);
  expect(spans.filter(({ name }) => name === 'GET /x')).toHaveLength(COUNT / 10);
  checkChildren(spans, COUNT / 10);
  expect(new Set(spans.map(({ kept }) => kept?.reason))).toEqual(new Set(['slow']));
  let counted = 0;
  for (const packet of readPackets(target)) {
    if (packet.kind !== 'event' || packet.description !== 'tracewright.released') continue;
    const value = (wanted: string) =>
      packet.attributes.find(({ name }) => name === wanted)?.value ?? 0n;
    if (value('name') === 'query') counted += Number(value('count'));
  }
  // Ten requests come before those.
  expect(counted).toBe(CHILDREN * (10 + (COUNT * 9) / 10));
});

test.each(['exit', 'signal', 'kill'].flatMap((end) => SLOTS.map((slots) => [end, slots] as const)))(
  'spans that wait end when they have ended, after %s with %s slots',
  async (end, openSpans) => {
    const { spans, signal, target } = await run(end, openSpans);
    expect(signal).toBe({ exit: null, signal: 'SIGTERM', kill: 'SIGKILL' }[end]);
    checkChildren(spans, COUNT);
    const roots = spans.filter(({ name }) => name === 'GET /x');
    expect(roots).toHaveLength(openSpans ?? COUNT);
    expect(new Set(spans.map(({ kept }) => kept?.reason))).toEqual(new Set(['undecided']));
    for (const root of roots) {
      expect(root.unfinished).toBe(true);
      if (end === 'kill') expect(durationOf(root)).toBeGreaterThan(LATEST_END_MS);
    }
    recoverTrace(target);
    expect((await allSpans(target)).length).toBe(spans.length);
  },
);
