import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkTrace } from '../../../src/heph/read/check.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import { recoverTrace } from '../../../src/heph/read/recover.js';
import { runFixture } from '../../fixtures/run-fixture.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { allSpans } from '../span-trace.js';

const directory = temporaryDirectory();
const ENDINGS = ['exit', 'SIGKILL'];

async function openSpansAfter(ending: string, options: object): Promise<unknown[]> {
  const target = join(directory, `${ending}-${Object.keys(options).join('')}.heph`);
  await runFixture('spans/ended-with-sets.mjs', { input: { target, ending, options } });
  const whenRead = await allSpans(target);
  expect(recoverTrace(target).faults).toEqual([]);
  const spans = await allSpans(target);
  const unfinished = (all: typeof spans): unknown[] =>
    all.filter((span) => span.unfinished).map(({ name, attributes }) => ({ name, attributes }));
  expect(unfinished(whenRead)).toEqual(unfinished(spans));
  expect([...checkTrace(target)].filter(({ rule }) => !rule.startsWith('converter'))).toEqual([]);
  expect([...readPackets(target)].length).toBeGreaterThan(200);
  return unfinished(spans).sort((a, b) => numberOf(a) - numberOf(b));
}

function numberOf(span: unknown): number {
  const { attributes } = span as { attributes: { n: number } };
  return attributes.n === ('again' as unknown) ? 2 : attributes.n;
}

test.each(ENDINGS)('what was set is in the record that a process leaves: %s', async (ending) => {
  expect(await openSpansAfter(ending, {})).toEqual([
    { name: 'open', attributes: { n: 1, text: 'late', number: 7, on: true, big: 7n } },
    { name: 'open', attributes: { n: 'again', twice: 'last' } },
    { name: 'open', attributes: { n: 3, after: 'the event' } },
    { name: 'open', attributes: { n: 4, list: [1, 'two'] } },
    { name: 'renamed again', attributes: { n: 5, late: 5 } },
    { name: 'open', attributes: { n: 6, count: 1000 } },
    { name: 'open', attributes: { n: 7, secret: 'nobody may read it', late: 7 } },
  ]);
});

test.each(ENDINGS)('what is redacted is in no record: %s', async (ending) => {
  const spans = await openSpansAfter(ending, { redact: { drop: ['secret', 'text'] } });
  expect(spans[0]).toEqual({ name: 'open', attributes: { n: 1, number: 7, on: true, big: 7n } });
  expect(spans.at(-1)).toEqual({ name: 'open', attributes: { n: 7, late: 7 } });
});
