import { afterEach, describe, expect, it, vi } from 'vitest';
import { spanCondition } from '../../../../src/look/condition/span-condition.js';
import { parseWhere } from '../../../../src/look/condition/where.js';
import { openLookIndex } from '../../../../src/look/index/open-look-index.js';
import { SpanDecoder } from '../../../../src/spans/read/span-decoder.js';
import { startSpan } from '../../../../src/spans/start-span.js';
import type { SpanRecord } from '../../../../src/spans/span-record.js';
import { temporaryDirectory } from '../../../heph/temporary-file.js';
import { recorded } from '../../../spans/span-trace.js';

const directory = temporaryDirectory();
const LONG = 'x'.repeat(70_000);

const VALUES: Record<string, unknown> = {
  text: 'postgresql',
  longer: 'postgresql-15',
  empty: '',
  digits: '404',
  number: 404,
  negative: -404,
  fraction: 40.4,
  zero: 0,
  'no number': NaN,
  infinite: -Infinity,
  yes: true,
  no: false,
  'yes in words': 'true',
  'beyond 2^53': 2n ** 60n,
  'small bigint': 404n,
  many: ['postgresql', 'redis'],
  numbers: [404, 500],
  long: LONG,
  unicode: 'Grüße 🐘',
  bytes: new Uint8Array([1, 2, 3]),
};

let trace: Promise<{ path: string; spans: SpanRecord[] }> | undefined;

/** A span for each value. Names of the same length, events and links have the value as well. */
function recordedTrace(): Promise<{ path: string; spans: SpanRecord[] }> {
  trace ??= (async () => {
    let path = '';
    const spans = await recorded(directory, (target) => {
      path = target;
      for (const [name, value] of Object.entries(VALUES)) {
        const attributes = { 'db.nbme': value, 'db.name': value, other: 1 } as { other: number };
        startSpan(name, attributes).end();
      }
      const inEvent = startSpan('in an event', { other: 1 });
      inEvent.event('event', { 'db.name': 'postgresql' });
      inEvent.end();
      startSpan('other name', { 'db.nbme': 'postgresql' }).end();
      startSpan('twice', { 'db.namespace': 'redis', 'db.name': 'postgresql' }).end();
    });
    return { path, spans };
  })();
  return trace;
}

/** Names of the spans that a search finds, and how many spans it decoded. */
async function search(where: readonly string[]): Promise<{ names: string[]; decoded: number }> {
  const { path } = await recordedTrace();
  const index = await openLookIndex([path], { cache: false });
  const decode = vi.spyOn(SpanDecoder.prototype, 'decode');
  const names: string[] = [];
  for await (const rows of index.find(parseWhere(where))) {
    for (const row of rows) {
      const part = index.partOf(row);
      names.push(part.names.text(part.name[row - part.firstRow]!));
    }
  }
  const decoded = decode.mock.calls.length;
  index.close();
  return { names, decoded };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a search for an attribute', () => {
  it.each([
    ...Object.values(VALUES).map((value) => [`db.name=${String(value)}`]),
    ['db.namespace=postgresql'],
    ['db.name=[postgresql,redis]'],
    ['db.name=404', 'other=1'],
    ['db.name=404', 'other=2'],
    ['db.name=404.0'],
    ['db.name=-0'],
    ['db.name= '],
    ['db.name=AQID'],
    ['db.name=postgresq'],
    ['other=1'],
    ['absent=1'],
  ])('finds what decoded spans have, condition %#', async (...where) => {
    const { spans } = await recordedTrace();
    const meets = spanCondition(parseWhere(where), 0n);
    const expected = spans.filter((span) => meets(span)).map(({ name }) => name);
    const { names } = await search(where);
    expect(names.toSorted()).toEqual(expected.toSorted());
  });

  it.each([['other=1'], ['db.namespace=redis'], ['absent=x'], ['db.nbme=absent']])(
    'decodes no span whose bytes say all: %s',
    async (where) => {
      const { decoded } = await search([where]);
      const arrays = ['many', 'numbers', 'bytes', 'long', 'beyond 2^53', 'small bigint'];
      const most = where.startsWith('other') || where.startsWith('absent') ? 0 : arrays.length;
      expect(decoded).toBeLessThanOrEqual(most);
    },
  );

  it('finds no other number where a value is none', async () => {
    expect((await search(['db.name=abc'])).names).toEqual([]);
  });
});
