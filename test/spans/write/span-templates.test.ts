import { expect, test } from 'vitest';
import { endRequest, startRequest } from '../../../src/spans/begin-span.js';
import { KIND_SHIFT, KINDS } from '../../../src/spans/layout.js';
import { Scope } from '../../../src/spans/scope.js';
import type { Span } from '../../../src/spans/span.js';
import { Prefix } from '../../../src/spans/slot/prefix.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { seeded } from '../seeded.js';
import { recorded } from '../span-trace.js';

const directory = temporaryDirectory();
const SERVER = KINDS.indexOf('server') << KIND_SHIFT;
/** More than have a slot of their own. */
const TEMPLATES = 100;
const SPANS = 3000;
/** Spans that are open at a time. */
const OPEN = 20;

test.each([
  ['a large table', {}],
  ['a table that has no slot to spare', { openSpans: { count: 32 } }],
])('spans of many templates take turns in the slots of %s', async (_, options) => {
  const scope = new Scope('test');
  const templates = Array.from({ length: TEMPLATES }, (_, n) => {
    const fixed = { number: n, padding: 'x'.repeat(n) };
    const attributesOf = (path: string): Record<string, string | number> => ({ ...fixed, path });
    return new Prefix(scope, `template ${n}`, SERVER, attributesOf, true);
  });
  const next = seeded(7);
  const random = (most: number): number => Math.floor(next() * most);
  const expected: unknown[] = [];
  const spans = await recorded(
    directory,
    () => {
      const open: Span[] = [];
      for (let i = 0; i < SPANS; i++) {
        const n = random(TEMPLATES);
        const path = `/${'p'.repeat(random(40))}${i}`;
        open.push(startRequest(templates[n]!, undefined, path, undefined, true));
        expected.push({
          name: `template ${n}`,
          attributes: { number: n, padding: 'x'.repeat(n), path },
        });
        if (open.length === OPEN) endRequest(open.splice(random(OPEN), 1)[0]!);
      }
      open.forEach(endRequest);
    },
    options,
  );
  const found = spans.map(({ name, attributes }) => ({ name, attributes }));
  const byPath = (of: unknown[]): unknown[] =>
    of.map((each) => JSON.stringify(each)).sort((a, b) => (a < b ? -1 : 1));
  expect(byPath(found)).toEqual(byPath(expected));
  expect(spans.every(({ start, end }) => end >= start)).toBe(true);
});
