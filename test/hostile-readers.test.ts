import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as dumpi from '../src/dumpi/index.js';
import * as heph from '../src/heph/index.js';
import * as laplace from '../src/laplace/index.js';
import * as ovni from '../src/ovni/index.js';
import * as spans from '../src/spans/index.js';
import { callHostile, hostileValue } from './hostile-values.js';
import { temporaryDirectory } from './heph/temporary-file.js';

const directory = temporaryDirectory();
mkdirSync(join(directory, 'empty'));

type Loose = (...values: unknown[]) => unknown;

/** What reads, checks, recovers or converts, by module and name: all that a path is given to. */
const readers = Object.entries({ dumpi, heph, laplace, ovni, spans }).flatMap(([module, all]) =>
  Object.entries(all)
    .filter(
      ([name, value]) =>
        typeof value === 'function' &&
        /^(read|check|recover|convert|dump|referencesTo|textTo)/.test(name),
    )
    .map(([name, reader]) => [`${module}.${name}`, reader as Loose] as const),
);

/** Goes through what a reader yields, and returns how much that was. */
async function exhaust(result: unknown): Promise<number> {
  let count = 0;
  if (typeof result !== 'object' || result === null) return count;
  if (Symbol.asyncIterator in result) {
    for await (const each of result as AsyncIterable<unknown>) count += each === undefined ? 0 : 1;
  } else if (Symbol.iterator in result) {
    for (const each of result as Iterable<unknown>) count += each === undefined ? 0 : 1;
  } else {
    await Promise.resolve(result);
  }
  return count;
}

async function callReader(reader: Loose, values: readonly unknown[]): Promise<void> {
  try {
    await exhaust(reader(...values));
  } catch (error) {
    callHostile(() => {
      throw error;
    });
  }
}

it('there are readers of all formats', () => {
  expect(readers.map(([name]) => name)).toEqual(
    expect.arrayContaining([
      'dumpi.checkRun',
      'dumpi.dumpi2ascii',
      'heph.readPackets',
      'laplace.referencesToText',
      'ovni.convertToVersion3',
      'spans.readSpans',
    ]),
  );
});

const OPTIONS = [
  'onProgress',
  'repeats',
  'maxPacketBytes',
  'maxRecordBytes',
  'maxDataBytes',
  'waitMs',
  'ringDir',
  'version',
  'endian',
  'exists',
  'shift',
  'processName',
  'isBeingWritten',
];

it.each(readers)('%s takes paths and options of the right types only', async (name, reader) => {
  const there = join(directory, 'empty');
  const away = join(directory, 'nothing', 'here');
  for (const path of ['a\0b', '', 7, null, undefined, {}, [null], Symbol('path')]) {
    await expect((async () => exhaust(reader(path)))()).rejects.toThrow();
    await callReader(reader, [path]);
    await callReader(reader, [there, path]);
    // Those that convert take another path.
    if (/convert|To/.test(name)) await callReader(reader, [away, path, path]);
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(hostileValue, { minLength: 2, maxLength: 3 }),
      fc.constantFrom(...OPTIONS),
      async ([first, second, third], option) => {
        const make = (maker: typeof first): unknown => maker?.(() => undefined);
        await callReader(reader, [make(first), make(second)]);
        if (/convert|To/.test(name)) await callReader(reader, [away, make(second), make(third)]);
        await callReader(reader, [away, { [option]: make(second) }]);
        await callReader(reader, [there, { [option]: make(second) }]);
      },
    ),
    { numRuns: 15 },
  );
});
