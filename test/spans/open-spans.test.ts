import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { configure } from '../../src/spans/recording.js';
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

test('the record of an open span ends as what the span has become', async () => {
  const ended = 300;
  const spans = await recorded(directory, () => {
    for (let n = 0; n < ended; n++) startSpan('GET /grüße', { n, text: 'ä€😀' }).end();
    startSpan('GET /grüße', { n: 1000, text: '' }).end();
    const ok = startSpan('GET /grüße', { n: 1001, text: '' });
    ok.setStatus(1, '');
    ok.end();
    const changed = startSpan('GET /grüße', { n: 1002, text: '' });
    changed.set('text', 'later').rename('renamed');
    changed.end();
    const failed = startSpan('GET /grüße', { n: 1003, text: '' });
    failed.fail(new Error('no'));
    failed.end();
    const given = startSpan('GET /grüße', { n: 1004, text: '' });
    given.end(Date.now() + 60_000);
    const before = startSpan('GET /grüße', { n: 1005, text: '' });
    configure({ service: 'another' });
    before.end();
    startSpan('GET /grüße', { n: 1006, text: '' }, { startTime: Date.now() + 60_000 }).end();
    const unnoticed = startSpan('GET /grüße', { n: 1007, text: 'secret' });
    configure({ redact: { drop: ['text'] } });
    unnoticed.end();
    configure({ redact: {} });
  });
  const by = new Map(spans.map((span) => [span.attributes['n'] as number, span]));
  expect(by.size).toBe(ended + 8);
  expect(spans).toHaveLength(by.size);
  for (let n = 0; n < ended; n++) {
    const { attributes, end, name, start, status, unfinished } = by.get(n)!;
    expect({ attributes, name, unfinished }).toEqual({
      attributes: { n, text: 'ä€😀' },
      name: 'GET /grüße',
      unfinished: false,
    });
    expect(status.code).toBe('unset');
    expect(end).toBeGreaterThanOrEqual(start);
  }
  expect(by.get(1001)!.status.code).toBe('ok');
  expect(by.get(1002)).toMatchObject({ name: 'renamed', attributes: { text: 'later' } });
  expect(by.get(1003)!.status).toEqual({ code: 'error', message: 'no' });
  expect(by.get(1003)!.events).toHaveLength(1);
  expect(by.get(1004)!.end - by.get(1004)!.start).toBeGreaterThan(50_000_000_000n);
  expect(by.get(1005)!.resource!.attributes['service.name']).toBe('another');
  expect(by.get(1006)!.end).toBeGreaterThanOrEqual(by.get(1006)!.start);
  expect(by.get(1007)!.attributes).toEqual({ n: 1007 });
  expect(spans.some((span) => span.unfinished)).toBe(false);
});

test('spans that were open come back after a kill, and only they', () => {
  const path = fileURLToPath(new URL('../../torture/open-spans.mjs', import.meta.url));
  const said = execFileSync(process.execPath, [path, '--rounds', '4', '--seed', '5'], {
    encoding: 'utf8',
  });
  expect(said).toContain('4 kills');
}, 60_000);
