import { expect, test } from 'vitest';
import type { SpanValue } from '../../../src/spans/attributes.js';
import { configure, output, shutdown } from '../../../src/spans/recording.js';
import type { SpanOptions } from '../../../src/spans/recording.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { join } from 'node:path';
import { recorded } from '../span-trace.js';
import { seeded } from '../seeded.js';
import {
  attributeName,
  SlotAttributes,
  writeAttribute,
} from '../../../src/spans/slot/slot-attributes.js';

const directory = temporaryDirectory();

const VALUES: readonly SpanValue[] = [
  'text',
  '',
  'ü€😀',
  'x'.repeat(60),
  '\ud800',
  0,
  -1,
  1.5,
  2 ** 40,
  -(2 ** 40),
  Infinity,
  true,
  false,
  7n,
  -7n,
  2n ** 63n,
  undefined,
  null,
  [1, 'two', true],
  { deep: 1 },
  'y'.repeat(700),
];
const NAMES = ['a', 'b', 'n', '~own', '__proto__', 'ü', 'toString'];
/** Values up to here are of one element, and not long. */
const USUAL = 16;

interface Expected {
  name: string;
  attributes: Map<string, SpanValue>;
  events: number;
  failed: boolean;
}

/** What `readSpans` makes of a value. */
function read(value: SpanValue): unknown {
  if (value === '\ud800') return '\ufffd';
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return '{"deep":1}';
  return value;
}

function recordAtRandom(random: () => number, n: number): Expected {
  const pick = <Item>(items: readonly Item[], most = items.length): Item =>
    items[Math.floor(random() * most)]!;
  const attributes = new Map<string, SpanValue>([['i', n]]);
  const given: Record<string, SpanValue> = { i: n };
  // Few orders of names, so that they are compiled.
  for (const name of NAMES.slice(0, Math.floor(random() * 3))) {
    given[name] = pick(VALUES, random() < 0.9 ? USUAL : undefined);
    attributes.set(name, given[name]);
  }
  const expected: Expected = { name: 'held', attributes, events: 0, failed: false };
  const span = startSpan('held', given);
  // The span has them as they were.
  for (const name of Object.keys(given)) given[name] = 'changed';
  given['more'] = 1;
  const sets = Math.floor(random() * 4);
  for (let i = 0; i < sets; i++) {
    const name = random() < 0.7 ? ['late', 'later', 'latest'][i % 3]! : pick(NAMES);
    const value = pick(VALUES, random() < 0.9 ? USUAL : undefined);
    span.set(name, value);
    attributes.set(name, value);
    if (random() < 0.03) {
      span.event('happened', { at: i });
      expected.events++;
    }
    if (random() < 0.03) {
      span.rename('renamed');
      expected.name = 'renamed';
    }
    if (random() < 0.03) {
      span.fail();
      expected.failed = true;
    }
  }
  span.end(random() < 0.1 ? Date.now() + 1000 : undefined);
  return expected;
}

test.each<[string, SpanOptions]>([
  ['in places', {}],
  ['in places that are full', { openSpans: { count: 2 } }],
  ['in small places', { openSpans: { bytes: 192 } }],
  ['without places', { openSpans: { count: 0 } }],
])(
  'attributes are those of the start, and the last of each name since (%s)',
  async (_, options) => {
    const random = seeded(14);
    const all: Expected[] = [];
    const spans = await recorded(
      directory,
      () => {
        if (options.openSpans?.count === 2) startSpan('takes one place');
        for (let n = 0; n < 2000; n++) all.push(recordAtRandom(random, n));
      },
      options,
    );
    const ended = spans.filter(({ unfinished }) => !unfinished);
    expect(ended).toHaveLength(all.length);
    for (const { name, attributes, events, status, dropped } of ended) {
      const expected = all[attributes['i'] as number]!;
      const own = [...expected.attributes].filter(([, value]) => value !== undefined);
      expect([name, events.length, status.code]).toEqual([
        expected.name,
        expected.events,
        expected.failed ? 'error' : 'unset',
      ]);
      expect(new Map(Object.entries(attributes))).toEqual(
        new Map(own.map(([key, value]) => [key, read(value)])),
      );
      expect(dropped).toEqual({ attributes: 0, events: 0, links: 0 });
    }
  },
);

test('a text is found by a name of any length, and the last one of a name counts', () => {
  const bytes = Buffer.alloc(4096);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const names = Array.from({ length: 12 }, (_, length) => 'attribute-ü'.slice(0, length));
  let end = 16;
  for (const [i, name] of [...names, ...names].entries()) {
    end = writeAttribute(view, bytes, end, attributeName(name), `${name} ${i}`);
    end = writeAttribute(view, bytes, end, attributeName(`${name}.`), i);
  }
  const slot = new SlotAttributes(view, bytes);
  for (const [i, name] of names.entries()) {
    expect(slot.textOf(name, 16, end)).toBe(`${name} ${names.length + i}`);
    expect(slot.textOf(`${name}.`, 16, end)).toBe('');
    expect(slot.textOf(`${name}x`, 16, end)).toBe('');
  }
});

test('an object is read once', async () => {
  let reads = 0;
  const spans = await recorded(directory, () => {
    for (let n = 0; n < 200; n++) {
      const value = n % 3 === 0 ? { n } : n;
      startSpan('read once', {
        get value() {
          reads++;
          return value;
        },
      })
        .set('late', n)
        .end();
    }
  });
  expect(reads).toBe(200);
  expect(spans).toHaveLength(200);
  spans.forEach(({ attributes }, n) => {
    expect(attributes).toEqual({ value: n % 3 === 0 ? `{"n":${n}}` : n, late: n });
  });
});

test('what redaction is configured for counts for spans that are open', async () => {
  const spans = await recorded(directory, () => {
    for (let n = 0; n < 200; n++) startSpan('open', { secret: 'start', n }).end();
    const open = startSpan('open', { secret: 'start', n: 200 });
    open.set('later', 'late');
    configure({ redact: { drop: ['secret', 'later'] } });
    open.end();
    configure({ redact: { drop: [] } });
  });
  expect(spans.at(-1)!.attributes).toEqual({ n: 200 });
});

test('spans outlive their trace', async () => {
  configure({ target: join(directory, 'closed.heph'), openSpans: {} });
  for (let n = 0; n < 200; n++) startSpan('late', { n }).set('later', n).end();
  const [set, renamed, changed] = [1, 2, 3].map((n) => startSpan('late', { n }));
  expect(output?.open).toBeDefined();
  expect(set!.isWhole).toBe(true);
  await shutdown();
  set!.set('later', 1).end();
  renamed!.rename('new').end();
  changed!.set('n', 2).event('late').end();
});

test('a place has the record of its own span, whatever was there before', async () => {
  const expected: [name: string, attributes: Record<string, unknown>][] = [];
  const record = (name: string, attributes: Record<string, SpanValue>, options = {}): void => {
    startSpan(name, attributes, options).end();
    expected.push([name, attributes]);
  };
  const spans = await recorded(
    directory,
    () => {
      const links = [{ to: startSpan('linked') }];
      for (let i = 0; i < 200; i++) {
        record('first', { a: i, text: 'x'.repeat(i % 5) });
        record('other', { a: i, text: 'x'.repeat(i % 7) });
        record('first', { b: i });
        // These are encoded in another way, in the same place.
        if (i % 3 === 0) record('longer than first', { a: i }, { links });
        if (i % 5 === 0) record('first', { b: [i] });
      }
      links[0]!.to.end();
    },
    { openSpans: { count: 2 } },
  );
  expected.push(['linked', {}]);
  expect(spans.map(({ name, attributes }) => [name, attributes])).toEqual(expected);
});
