import { expect, it } from 'vitest';
import type { Answers } from '../../../../src/look/index/look-index.js';
import { openLookIndex } from '../../../../src/look/index/open-look-index.js';
import type { IndexedPart } from '../../../../src/look/index/parts/indexed-part.js';
import { RequestsInFlight } from '../../../../src/look/index/serve/requests-in-flight.js';
import { startSpan } from '../../../../src/spans/start-span.js';
import { temporaryDirectory } from '../../../heph/temporary-file.js';
import { recorded } from '../../../spans/span-trace.js';

const directory = temporaryDirectory();

it.each([3, 40_000])('a curve of %i requests is the same when it was kept', async (requests) => {
  let path = '';
  await recorded(directory, (target) => {
    path = target;
    for (let i = 0; i < requests; i++) startSpan('GET /', undefined, { kind: 'server' }).end();
  });
  const index = await openLookIndex([path], { cache: false });
  const parts = index.parts as IndexedPart[];
  const kept = new Map<string, string>();
  const answers: Answers = {
    read: (question) => {
      const text = kept.get(question);
      return text === undefined ? undefined : (JSON.parse(text) as unknown);
    },
    keep: (question, answer) => kept.set(question, JSON.stringify(answer)),
  };
  const curve = () => new RequestsInFlight().of(0, parts, () => answers)!;
  const counted = curve();
  const { times, values, areMeans } = counted;
  expect(areMeans).toBe(requests > 1 << 15);
  expect(times.length).toBeGreaterThan(3);
  expect(kept.size).toBe(1);
  // What is not read any more.
  for (const part of parts) Object.defineProperty(part, 'start', { get: () => expect.fail() });
  const again = curve();
  expect(again.times).toEqual(times);
  expect(again.values).toEqual(values);
  expect(again.areMeans).toBe(areMeans);
  index.close();
});
