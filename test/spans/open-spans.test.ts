import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startSpan } from '../../src/spans/spans.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { recorded } from './span-trace.js';

const directory = temporaryDirectory();

test('spans that are open when recording ends are unfinished, and each of the others comes once', async () => {
  const spans = await recorded(directory, () => {
    const open = startSpan('open', { n: 1, text: 'ü', deep: [1, true] });
    // Often enough to be compiled.
    for (let n = 0; n < 400; n++) startSpan('ended', { n }).end();
    for (let n = 0; n < 3; n++) startSpan('ended', { n: 1000 + n });
    startSpan('child', {}, { parent: open, kind: 'client' }).set('late', 1);
  });
  const unfinished = spans.filter((span) => span.unfinished);
  expect(spans.length - unfinished.length).toBe(400);
  const byName = (name: string) => unfinished.filter((span) => span.name === name);
  expect(byName('ended').map(({ attributes }) => attributes['n'])).toEqual(
    expect.arrayContaining([1000, 1001, 1002]),
  );
  const [open] = byName('open');
  expect(open!.attributes).toEqual({ n: 1, text: 'ü', deep: [1, true] });
  const [child] = byName('child');
  expect(child).toMatchObject({ kind: 'client', attributes: {}, parentSpanId: open!.spanId });
  expect(unfinished).toHaveLength(5);
  for (const { start, end } of unfinished) expect(end).toBeGreaterThanOrEqual(start);
});

test('an open span that is too long for its place is cut, and its end is whole', async () => {
  const text = 'x'.repeat(5000);
  const spans = await recorded(directory, () => {
    startSpan('long', { text });
    startSpan('long', { text }).end();
  });
  const [ended, open] = [...spans].sort((a, b) => Number(a.unfinished) - Number(b.unfinished));
  expect(ended).toMatchObject({ unfinished: false, attributes: { text } });
  expect(open).toMatchObject({ name: 'long', unfinished: true });
  expect(open!.attributes['text']).not.toBe(text);
});

test('spans that were open come back after a kill, and only they', () => {
  const path = fileURLToPath(new URL('../../torture/open-spans.mjs', import.meta.url));
  const said = execFileSync(process.execPath, [path, '--rounds', '4', '--seed', '5'], {
    encoding: 'utf8',
  });
  expect(said).toContain('4 kills');
}, 60_000);
