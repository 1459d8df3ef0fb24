import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import {
  KIND_MASK,
  MISSING_PARENT,
  NO_PARENT,
  NO_TEXT,
  STATUS_MASK,
  STATUS_SHIFT,
} from '../../../src/look/index/look-index.js';
import type { Condition, IndexPart, LookIndex } from '../../../src/look/index/look-index.js';
import { KINDS, STATUSES } from '../../../src/spans/layout.js';
import { extract, inject } from '../../../src/spans/propagation.js';
import type { Span } from '../../../src/spans/span.js';
import { withSpan } from '../../../src/spans/active-span.js';
import { startSpan } from '../../../src/spans/start-span.js';
import type { SpanRecord } from '../../../src/spans/span-record.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { recorded } from '../../spans/span-trace.js';

const directory = temporaryDirectory();

/** Some requests with queries in them, of which some fail. */
function service(requests: number): void {
  for (let i = 0; i < requests; i++) {
    const tags = ['a', `t${i}`];
    const attributes = { 'http.route': '/users/:id', user: i, tags, slow: i % 7 === 0 };
    const query = (): void => {
      startSpan('parse').end();
    };
    const request = (span: Span): void => {
      const table = i % 2 === 0 ? 'users' : 'orders';
      withSpan('query', { table }, query, { kind: 'client' });
      if (i % 10 === 3) span.fail(new Error(`request ${i}`));
    };
    withSpan('GET /users/:id', attributes, request, { kind: 'server' });
  }
}

let files = 0;
async function indexed(
  record: () => unknown,
): Promise<{ spans: SpanRecord[]; index: LookIndex; path: string }> {
  let path = '';
  const own = join(directory, String(++files));
  mkdirSync(own);
  const spans = await recorded(own, (target) => {
    path = target;
    return record();
  });
  return { spans, index: await openLookIndex([path]), path };
}

interface Row {
  part: IndexPart;
  at: number;
}

function rowOf(index: LookIndex, row: number): Row {
  const part = index.partOf(row);
  return { part, at: row - part.firstRow };
}

const idOf = ({ part, at }: Row): string =>
  [...part.spanId.subarray(2 * at, 2 * at + 2)]
    .map((word) => word.toString(16).padStart(8, '0'))
    .join('');

async function found(index: LookIndex, condition: Condition): Promise<number[]> {
  const rows: number[] = [];
  for await (const batch of index.find(condition)) rows.push(...batch);
  return rows;
}

test('columns say what readSpans says', async () => {
  const { spans, index } = await indexed(() => {
    service(500);
  });
  expect(index.rows).toBe(1500);
  const bySpan = new Map(spans.map((span) => [span.spanId, span]));
  let before = -Infinity;
  for (let row = 0; row < index.rows; row++) {
    const { part, at } = rowOf(index, row);
    const span = bySpan.get(idOf({ part, at }))!;
    const start = part.start[at]!;
    expect(start).toBeGreaterThanOrEqual(before);
    before = start;
    expect(part.source.epoch + BigInt(start)).toBe(span.start);
    expect(index.epoch + BigInt(start + part.offset)).toBe(span.start);
    expect(BigInt(part.duration[at]!)).toBe(span.end - span.start);
    expect(part.names.text(part.name[at]!)).toBe(span.name);
    expect(part.traceId(part.trace[at]!)).toBe(span.traceId);
    expect(KINDS[part.flags[at]! & KIND_MASK]).toBe(span.kind);
    expect(STATUSES[(part.flags[at]! >> STATUS_SHIFT) & STATUS_MASK]).toBe(span.status.code);
    const route = part.route[at]!;
    expect(route === NO_TEXT ? undefined : part.names.text(route)).toBe(
      span.attributes['http.route'],
    );
    const parent = part.parent[at]!;
    expect(parent === NO_PARENT ? undefined : idOf(rowOf(index, parent))).toBe(span.parentSpanId);
    expect(index.span(row)).toEqual(span);
  }
  index.close();
});

test('rows of a lane never overlap, and a child lies below its parent', async () => {
  const { index } = await indexed(() => {
    const open = Array.from({ length: 20 }, (_, i) => startSpan(`request ${i}`));
    for (const span of open) startSpan('child', undefined, { parent: span }).end();
    for (const span of open) span.end();
    service(100);
  });
  const ends = new Map<number, number>();
  let below = 0;
  for (let row = 0; row < index.rows; row++) {
    const { part, at } = rowOf(index, row);
    const lane = part.lane[at]!;
    expect(part.start[at]!).toBeGreaterThanOrEqual(ends.get(lane) ?? -Infinity);
    ends.set(lane, part.start[at]! + part.duration[at]!);
    const parent = part.parent[at]!;
    if (parent >= 0 && lane > part.lane[parent]!) below++;
  }
  expect(index.tracks.map(({ name, lanes }) => [name, lanes >= 20])).toEqual([['main', true]]);
  expect(below).toBe(220);
  index.close();
});

test('a search finds what the spans have', async () => {
  const { spans, index } = await indexed(() => {
    service(3000);
  });
  const cases: [Condition, (span: SpanRecord) => boolean][] = [
    [{ name: 'query' }, ({ name }) => name === 'query'],
    [{ name: 'GET*:id' }, ({ name }) => name.startsWith('GET')],
    [{ name: '*a*s*' }, ({ name }) => /a.*s/.test(name)],
    [{ status: 'error' }, ({ status }) => status.code === 'error'],
    [{ kind: 'client' }, ({ kind }) => kind === 'client'],
    [
      { attributes: [{ name: 'user', value: '1234' }] },
      ({ attributes }) => attributes['user'] === 1234,
    ],
    [
      { attributes: [{ name: 'slow', value: 'true' }] },
      ({ attributes }) => attributes['slow'] === true,
    ],
    [
      { attributes: [{ name: 'tags', value: 't17' }] },
      ({ attributes }) => attributes['user'] === 17,
    ],
    [{ attributes: [{ name: 'user', value: 'x' }] }, () => false],
    [
      { kind: 'client', attributes: [{ name: 'table', value: 'users' }] },
      ({ attributes }) => attributes['table'] === 'users',
    ],
    [{ traceId: spans[77]!.traceId }, ({ traceId }) => traceId === spans[77]!.traceId],
    [{ missingParent: true }, () => false],
  ];
  for (const [condition, isWanted] of cases) {
    const ids = (await found(index, condition)).map((row) => idOf(rowOf(index, row)));
    const wanted = spans.filter(isWanted).map(({ spanId }) => spanId);
    expect(ids.sort(), JSON.stringify(condition)).toEqual(wanted.sort());
  }
  const middle = index.length / 2;
  const early = await found(index, { to: middle });
  const late = await found(index, { from: middle });
  expect(early.length + late.length).toBeGreaterThanOrEqual(index.rows);
  expect(index.rowsOfTrace(spans[5]!.traceId)).toHaveLength(3);
  index.close();
});

test('a parent in another file is found, and one that is nowhere is missing', async () => {
  const calls: Record<string, string>[] = [];
  const client = await indexed(() => {
    for (let i = 0; i < 3; i++) {
      withSpan('call', undefined, () => calls.push(inject({})), { kind: 'client' });
    }
  });
  const server = await indexed(() => {
    for (const headers of calls) {
      withSpan('serve', undefined, () => undefined, { kind: 'server', parent: extract(headers)! });
    }
  });
  const alone = rowOf(server.index, 0);
  expect([...alone.part.parent]).toEqual([MISSING_PARENT, MISSING_PARENT, MISSING_PARENT]);
  const both = await openLookIndex([server.path, client.path]);
  const serving = await found(both, { kind: 'server' });
  for (const row of serving) {
    const { part, at } = rowOf(both, row);
    const parent = rowOf(both, part.parent[at]!);
    expect(parent.part.names.text(parent.part.name[parent.at]!)).toBe('call');
    expect(parent.part.traceId(parent.part.trace[parent.at]!)).toBe(part.traceId(part.trace[at]!));
  }
  expect(serving).toHaveLength(3);
  expect(both.rowsOfTrace(server.spans[0]!.traceId)).toHaveLength(2);
  both.close();
});

test('a window shows wide rows one by one, and counts the narrow ones', async () => {
  const { index } = await indexed(() => {
    service(2000);
  });
  const tracks = index.tracks.map(({ number }) => number);
  for (const [from, to] of [
    [0, index.length],
    [index.length / 3, index.length / 2],
    [index.length / 2, index.length / 2 + 50_000],
  ] as const) {
    const windows = index.windows(from, to, 1000, tracks);
    let shown = 0;
    for (const { rows, merged } of windows) {
      shown += rows.length + merged.count.reduce((sum, count) => sum + count, 0);
    }
    expect(shown).toBe((await found(index, { from, to })).length);
  }
  index.close();
});
