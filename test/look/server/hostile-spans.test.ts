import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RowAnswer } from '../../../src/look/wire/answers.js';
import type { FindLine } from '../../../src/look/wire/view-answers.js';
import { encodeEpoch } from '../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../heph/temporary-file.js';
import {
  MANY_ATTRIBUTES,
  encodeSpan,
  manyAttributes,
  withAttributes,
} from '../../export/span-file.js';
import { Served } from './served.js';

const directory = temporaryDirectory();
const MOST_BYTES = 100_000;
/** Less than a second is spent. Quadratic work would take many minutes. */
const MOST_MS = 30_000;

describe('the server of the page, asked about a span with very many attributes', () => {
  let served: Served;

  beforeAll(async () => {
    const server = 1n | (1n << 8n);
    const wide = encodeSpan({ id: 1n, name: 'GET', start: 1n, end: 100n, flags: server });
    const path = writeTrace(
      directory,
      'wide.heph',
      encodeEpoch(1_700_000_000_000_000_000n),
      withAttributes(wide, manyAttributes(MANY_ATTRIBUTES)),
      encodeSpan({ id: 2n, parent: 1n, start: 5n, end: 10n }),
    );
    served = await Served.of(path);
  });

  afterAll(() => served.close());

  async function answered(path: string, query: Record<string, string | number>): Promise<string> {
    const from = performance.now();
    const text = await served.text(path, query);
    expect(performance.now() - from).toBeLessThan(MOST_MS);
    expect(text.length).toBeLessThan(MOST_BYTES);
    return text;
  }

  it('gives the first of its details, and counts the others', { timeout: 60_000 }, async () => {
    const answer = JSON.parse(await answered('/data/row', { row: 0 })) as RowAnswer;
    const { details } = answer;
    expect(details).toMatchObject({
      ...{ length: 99, 'attribute 0': 0, 'attribute 998': 998 },
      // It has one of its own.
      'attributes not shown': MANY_ATTRIBUTES + 1 - 1000,
      // What a span always has comes after them.
      span: '0000000000000001',
    });
    expect(details).not.toHaveProperty(['attribute 999']);
  });

  it.each([0, MANY_ATTRIBUTES / 2, MANY_ATTRIBUTES - 1])(
    'finds it by attribute %d',
    async (number) => {
      const find = async (value: number): Promise<FindLine> => {
        const text = await answered('/data/find', { where: `attribute" "${number}=${value}` });
        const lines = text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as FindLine);
        return { ...lines.at(-1)!, rows: lines.flatMap(({ rows }) => rows) };
      };
      expect(await find(number)).toMatchObject({ count: 1, rows: [0], done: true });
      expect(await find(number + 1)).toMatchObject({ count: 0, rows: [], done: true });
    },
  );

  it.each([
    ['/data/trace', { row: 0 }],
    ['/data/row-names', { rows: '0-1' }],
    ['/data/report', { slowest: 5 }],
  ])('answers %s', { timeout: 60_000 }, async (path, query) => {
    expect(await answered(path, query)).toContain('"GET"');
  });
});
