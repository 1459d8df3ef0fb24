import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runFixture } from '../../fixtures/run-fixture.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { allSpans } from '../span-trace.js';

const directory = temporaryDirectory();
const NAMES = ['query', 'fetch', 'a longer name', 'other'];

/** By name: how many spans were not kept, and how many of them had failed. */
function releasedIn(target: string): Record<string, [count: number, errors: number]> {
  const found: Record<string, [number, number]> = {};
  for (const packet of readPackets(target)) {
    if (packet.kind !== 'event' || packet.description !== 'tracewright.released') continue;
    const value = (wanted: string) =>
      packet.attributes.find(({ name }) => name === wanted)?.value ?? 0n;
    const own = (found[String(value('name'))] ??= [0, 0]);
    own[0] += Number(value('count'));
    own[1] += Number(value('errors'));
  }
  return found;
}

test.each([
  ['compiled', []],
  ['without code generation from text', ['--disallow-code-generation-from-strings']],
])('spans below roots are kept with them or counted, %s', async (name, execArgv) => {
  const target = join(directory, `${name}.heph`);
  const { code, stderr } = await runFixture('spans/keep-operations.mjs', {
    input: { target },
    execArgv,
  });
  expect([stderr, code]).toEqual(['', 0]);
  const spans = await allSpans(target);
  expect(new Set(spans.map(({ kept }) => kept?.reason))).toEqual(new Set(['slow']));
  for (const each of [...NAMES, 'GET /x']) {
    expect(spans.filter((span) => span.name === each)).toHaveLength(200);
  }
  // Slow ones are n = 10 k + 3: none of them fails.
  expect(releasedIn(target)).toEqual({
    'GET /x': [1800, 0],
    query: [1800, 0],
    fetch: [1800, 500],
    'a longer name': [1800, 0],
    other: [1800, 0],
  });
});
