import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { OpenEventTable } from '../../../src/heph/write/open-events.js';
import type { Trace } from '../../../src/heph/write/trace.js';
import { configure, output, shutdown } from '../../../src/spans/recording.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { checkTrace } from '../../../src/heph/read/check.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import { reportOn } from '../../look/report/recorded-service.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { recoverTrace } from '../../../src/heph/read/recover.js';
import { runFixture } from '../../fixtures/run-fixture.js';
import { allSpans, recorded } from '../span-trace.js';

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

test('an open span that began before the trace lasts until the end of recording', async () => {
  const before = 10_000;
  const spans = await recorded(directory, () => {
    startSpan('early', {}, { startTime: Date.now() - before });
  });
  const [{ unfinished, start, end }] = spans as [(typeof spans)[0]];
  expect(unfinished).toBe(true);
  expect(Number(end - start) / 1e6).toBeGreaterThan(before - 1);
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
    ok.markStatus(1, '');
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

test('ten thousand open spans have a place each, and the one after them is counted', async () => {
  const count = 10_000;
  let stats: unknown;
  const spans = await recorded(
    directory,
    () => {
      for (let n = 0; n <= count; n++) startSpan(`open ${n % 7}`, { n });
      stats = (output!.trace as unknown as Pick<Trace, 'stats'>).stats().open;
    },
    { openSpans: { count } },
  );
  expect(stats).toEqual({ events: count, unkept: 1 });
  expect(spans.every((span) => span.unfinished)).toBe(true);
  const numbers = spans.map(({ attributes }) => attributes['n'] as number);
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, n) => n));
});

test('places have the size and number that were asked for', async () => {
  const text = 'x'.repeat(5000);
  const attributes = { text };
  const whole = await recorded(directory, () => startSpan('long', attributes), {
    openSpans: { bytes: 8000 },
  });
  expect(whole).toMatchObject([{ attributes, unfinished: true, dropped: { attributes: 0 } }]);
  const none = await recorded(
    directory,
    () => {
      startSpan('open');
      startSpan('ended').end();
    },
    { openSpans: { count: 0 } },
  );
  expect(none).toMatchObject([{ name: 'ended', unfinished: false }]);
  process.env['TRACEWRIGHT_OPEN_SPAN_BYTES'] = '128';
  process.env['TRACEWRIGHT_OPEN_SPANS'] = '1';
  try {
    const name = 'n'.repeat(40);
    const cut = await recorded(
      directory,
      () => {
        startSpan('long', { text }).end();
        startSpan(name, { text });
        startSpan('without a place');
      },
      { openSpans: {} },
    );
    expect(cut).toMatchObject([
      { unfinished: false, attributes: { text } },
      { unfinished: true, attributes: {}, dropped: { attributes: 1 } },
    ]);
    expect(cut[1]!.name).toBe(`${name.slice(0, 12)}…`);
  } finally {
    delete process.env['TRACEWRIGHT_OPEN_SPAN_BYTES'];
    delete process.env['TRACEWRIGHT_OPEN_SPANS'];
  }
});

test('texts that were cut say so', async () => {
  const [span] = await recorded(
    directory,
    () => startSpan('n'.repeat(500), { text: 'x'.repeat(90), short: 'y' }),
    { openSpans: {} },
  );
  expect(span!.name).toBe(`${'n'.repeat(256)}…`);
  const [shorter] = await recorded(
    directory,
    () => startSpan('n'.repeat(500), { text: 'x'.repeat(90) }),
    {
      openSpans: { bytes: 300 },
    },
  );
  expect(shorter!.name).toBe(`${'n'.repeat(32)}…`);
  expect(shorter!.attributes).toEqual({ text: `${'x'.repeat(32)}…` });
});

test('options of open spans are checked', async () => {
  const target = join(directory, 'checked.heph');
  const refused = (openSpans: unknown, message: RegExp, code = 'ERR_ARGUMENT_RANGE') => {
    expect(() => {
      configure({ target, openSpans: openSpans as object });
    }).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) as string }),
    );
  };
  refused({ count: 65_537 }, /openSpans\.count must be an integer from 0 to 65536, got 65537/);
  refused({ count: -1 }, /openSpans\.count/);
  refused({ count: '1' }, /openSpans\.count/, 'ERR_ARGUMENT_TYPE');
  refused({ bytes: 127 }, /openSpans\.bytes must be an integer from 128 to 65536/);
  refused({ places: 1 }, /openSpans option must be one of bytes, count/);
  refused(1, /openSpans must be an object/, 'ERR_ARGUMENT_TYPE');
  refused(
    { count: 65_536, bytes: 65_536 },
    /openSpans\.count must be an integer from 0 to 8\d+: 65\d+ bytes each/,
  );
  process.env['TRACEWRIGHT_OPEN_SPANS'] = 'many';
  try {
    expect(new OpenEventTable().bytes).toBe(new OpenEventTable({ count: 1024 }).bytes);
  } finally {
    delete process.env['TRACEWRIGHT_OPEN_SPANS'];
  }
  configure({ target, openSpans: { count: 5 } });
  configure({ openSpans: { count: 5 } });
  refused({ count: 6 }, /openSpans must come with the target/, 'ERR_ORDER');
  await shutdown();
  configure({ target: join(directory, 'checked-later.heph'), openSpans: {} });
  await shutdown();
});

test('spans that were open come back after a kill, and only they', () => {
  const path = fileURLToPath(new URL('../../../torture/open-spans.mjs', import.meta.url));
  const said = execFileSync(process.execPath, [path, '--rounds', '4', '--seed', '5'], {
    encoding: 'utf8',
  });
  expect(said).toContain('4 kills');
}, 60_000);

test.each(['getter', 'toJSON', 'late', 'event'])(
  'a span is unfinished after a kill by code that its end calls (%s)',
  async (how) => {
    const target = join(directory, `killed-by-${how}.heph`);
    const input = { target, how };
    const { signal, stderr } = await runFixture('spans/killed-while-encoding.mjs', { input });
    expect([signal, stderr]).toEqual(['SIGKILL', '']);
    expect(recoverTrace(target).faults).toEqual([]);
    const spans = await allSpans(target);
    const unfinished = spans.filter((span) => span.unfinished);
    expect(unfinished.map(({ name }) => name)).toEqual(['outer']);
    const inner = spans.filter(({ name }) => name === 'inner');
    expect(inner.map(({ attributes }) => attributes['n'])).toEqual([...Array(50).keys()]);
    expect(spans).toHaveLength(50 + 50 + 1);
  },
);

test('the spans in flight of two threads are there after a kill, as many as the table can grow to', async () => {
  const target = join(directory, 'in-flight.heph');
  const count = 1500;
  const input = { target, count };
  const { signal, stderr } = await runFixture('spans/killed-in-flight.mjs', { input });
  expect([signal, stderr]).toEqual(['SIGKILL', '']);
  const { report } = await reportOn([target]);
  expect(report.losses).toEqual([]);
  expect(report.open.count).toBe(2 * count);
  expect(recoverTrace(target).faults).toEqual([]);
  const spans = await allSpans(target);
  const numbersOf = (thread: string): number[] =>
    spans
      .filter(({ name, unfinished }) => unfinished && name.startsWith(thread))
      .map(({ attributes }) => attributes['n'] as number)
      .sort((a, b) => a - b);
  const all = Array.from({ length: count }, (_, n) => n);
  expect(numbersOf('main')).toEqual(all);
  expect(numbersOf('worker')).toEqual(all);
  expect([...checkTrace(target)].filter(({ rule }) => !rule.startsWith('converter'))).toEqual([]);
});

test.each(['exit', 'SIGKILL'])(
  'what was undecided is numbered after the one record of a ring: %s',
  async (ending) => {
    const target = join(directory, `one-record-${ending}.heph`);
    await runFixture('spans/one-record.mjs', { input: { target, ending } });
    expect(recoverTrace(target).faults).toEqual([]);
    const numbers = [...readPackets(target)].flatMap((packet) =>
      packet.kind === 'event' && packet.stream === 0 ? [packet.counter] : [],
    );
    expect(numbers).toEqual([0, 1, 2]);
    expect([...checkTrace(target)].filter(({ rule }) => !rule.startsWith('converter'))).toEqual([]);
  },
);

test.each([
  { which: 'none', ending: [0, 0], kept: 100, lost: 50 },
  { which: 'some without a place', ending: [130, 150], kept: 100, lost: 30 },
  { which: 'all with a place', ending: [0, 100], kept: 0, lost: 50 },
  { which: 'all without a place', ending: [100, 150], kept: 100, lost: 0 },
])(
  'report says how many open spans had no place when their process was killed ($which had ended)',
  async ({ which, ending, kept, lost }) => {
    const target = join(directory, `full-table-${which.replaceAll(' ', '-')}.heph`);
    const input = { target, count: 150, ending, options: { openSpans: { count: 100 } } };
    const { signal, stderr } = await runFixture('spans/killed-in-flight.mjs', { input });
    expect([signal, stderr]).toEqual(['SIGKILL', '']);
    const reason = `${2 * lost} spans that were open are not kept: the table of open spans was full`;
    const losses = lost === 0 ? [] : [[2 * lost, reason]];
    const said = async (): Promise<unknown> => {
      const { report } = await reportOn([target]);
      return [report.open.count, report.losses.map((loss) => [loss.count, loss.reason])];
    };
    expect(await said()).toEqual([2 * kept, losses]);
    expect(recoverTrace(target).faults).toEqual([]);
    expect(await said()).toEqual([2 * kept, losses]);
    expect([...checkTrace(target)].filter(({ rule }) => !rule.startsWith('converter'))).toEqual([]);
  },
);

test('the table of open spans stays as it is without its file, and grows later', async () => {
  const place = mkdtempSync(join(directory, 'ring-that-goes-'));
  const away = join(place, 'away');
  const stats: unknown[] = [];
  const open = (count: number): void => {
    for (let n = 0; n < count; n++) startSpan(`open ${n % 3}`, { n });
    stats.push((output!.trace as unknown as Pick<Trace, 'stats'>).stats().open);
  };
  const spans = await recorded(
    place,
    () => {
      const ring = readdirSync(place).find((name) => name.endsWith('.ring'))!;
      open(1000);
      renameSync(join(place, ring), away);
      open(100);
      renameSync(away, join(place, ring));
      open(200);
    },
    { openSpans: {} },
  );
  expect(stats[0]).toEqual({ events: 1000, unkept: 0 });
  expect(stats[1]).toEqual({ events: 1024, unkept: 76 });
  const [, , last] = stats as { events: number; unkept: number }[];
  // It is not asked for again at each span.
  expect(last!.unkept).toBeGreaterThan(76);
  expect(last!.unkept).toBeLessThan(200);
  expect(last!.events + last!.unkept).toBe(1300);
  expect(spans).toHaveLength(last!.events);
});
