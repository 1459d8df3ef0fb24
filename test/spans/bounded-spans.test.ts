import { expect, test } from 'vitest';
import { u64 } from '../../src/heph/index.js';
import * as spans from '../../src/spans/index.js';
import type { SpanAttributes, SpanRecord } from '../../src/spans/index.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { recorded } from './span-trace.js';

const directory = temporaryDirectory();
const MIB = 1 << 20;

/** The one span of a trace that readers accept without an option. */
async function read(attributes: SpanAttributes): Promise<SpanRecord> {
  const found = await recorded(directory, () => {
    spans.startSpan('large', attributes).end();
    spans.startSpan('next', {}, { parent: null }).end();
  });
  expect(found.map(({ name }) => name)).toEqual(['large', 'next']);
  return found[0]!;
}

test('a text that makes a span larger than readers accept is cut', async () => {
  const { attributes, dropped } = await read({ before: 1, text: 'x'.repeat(65 * MIB), after: 2 });
  expect(attributes).toEqual({ before: 1, text: `${'x'.repeat(256)}…`, after: 2 });
  expect(dropped.attributes).toBe(0);
});

test('so are many texts, which are the same one in memory', async () => {
  const { attributes } = await read({ texts: new Array<string>(200).fill('x'.repeat(MIB)) });
  expect(attributes['texts']).toEqual(new Array(200).fill(`${'x'.repeat(256)}…`));
});

test('an array that contains the same typed array many times is dropped', async () => {
  const typed = u64(new Array<number>(1000).fill(0));
  const { attributes, dropped } = await read({ a: [typed, typed], b: new Array(66).fill(typed) });
  expect(attributes['a']).toHaveLength(2);
  expect(Object.keys(attributes)).toEqual(['a']);
  expect(dropped.attributes).toBe(1);
});

test('arrays of a span have no more elements than readers accept', async () => {
  const array = new Array<number>(60_000).fill(1);
  const names = Array.from({ length: 20 }, (_, i) => `a${i}`);
  const { attributes, dropped } = await read({
    ...Object.fromEntries(names.map((name) => [name, array])),
    last: 'x',
  });
  // 2^19 elements.
  expect(Object.keys(attributes)).toEqual([...names.slice(0, 8), 'last']);
  expect(dropped.attributes).toBe(12);
});

test('a list is no object of names and values', () => {
  const view = new Uint8Array(50 * MIB);
  const calls: ((wrong: never) => unknown)[] = [
    (wrong) => spans.startSpan('x', wrong),
    (wrong) => spans.startSpan('x', {}, { links: [{ to: span, attributes: wrong }] }),
    (wrong) => span.event('x', wrong),
    (wrong) => {
      spans.withBaggage(wrong, () => undefined);
    },
    (wrong) => {
      spans.configure({ resource: wrong });
    },
  ];
  spans.configure({ target: `${directory}/lists.heph` });
  const span = spans.startSpan('span');
  for (const call of calls) {
    for (const wrong of [view, [1, 2]]) {
      expect(() => call(wrong as never)).toThrow(spans.TracewrightError);
    }
  }
  expect(() => spans.extract(view)).toThrow(/carrier/);
  span.end();
  return spans.shutdown();
});
