import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { openLookIndex } from '../../../../src/look/index/open-look-index.js';
import { makeReport } from '../../../../src/look/report/report.js';
import { startSpan, withSpan } from '../../../../src/spans/spans.js';
import { temporaryDirectory } from '../../../heph/temporary-file.js';
import { recorded } from '../../../spans/span-trace.js';

const directory = temporaryDirectory();
const cache = join(directory, 'cache');
let path = '';
/** The files of the index as they were written. */
const written = new Map<string, Buffer>();

const HEAD_BYTES = 32;
const WIDTHS: Record<string, number> = { f64: 8, u32: 4, i32: 4, u16: 2, u8: 1 };

interface Header {
  facts: unknown;
  columns: Record<string, { type: string; length: number; offset: number; crc: number }>;
}

beforeAll(async () => {
  mkdirSync(join(directory, 'trace'));
  await recorded(join(directory, 'trace'), (target) => {
    path = target;
    for (let i = 0; i < 200; i++) {
      withSpan(`request ${i % 5}`, { 'http.route': `/${i % 5}`, i }, () => {
        startSpan('child').end();
      });
    }
  });
  await lookAtAll();
  for (const name of readdirSync(cache, { recursive: true, encoding: 'utf8' })) {
    if (!/^(index|part-|shape-)/.test(basename(name))) continue;
    written.set(join(cache, name), readFileSync(join(cache, name)));
  }
});

/** Opens the index and reads everything that a user can see of it. */
async function lookAtAll(): Promise<number> {
  const index = await openLookIndex([path], { cache, leastCachedBytes: 0 });
  try {
    for (const part of index.parts) {
      for (let at = 0; at < part.count; at++) {
        part.names.text(part.name[at]!);
        index.details(part.firstRow + at);
        index.span(part.firstRow + at);
      }
    }
    const tracks = index.tracks.map(({ number }) => number);
    index.windows(0, Math.max(1, index.length), 100, tracks);
    index.windows(0, 1000, 100, tracks);
    let seen = 0;
    for await (const rows of index.find({ attributes: [{ name: 'i', value: '7' }] }))
      seen += rows.length;
    for (const { values } of index.counters) seen += values.length;
    expect(seen).toBeGreaterThanOrEqual(0);
    await makeReport(index, { pictures: 3 });
    return index.rows;
  } finally {
    index.close();
  }
}

/** A file with another header, or other columns, and checksums that are right for them. */
function forged(file: Buffer, change: (header: Header, columns: Buffer) => void): Buffer {
  const length = file.readUInt32LE(12);
  const header = JSON.parse(file.toString('utf8', HEAD_BYTES, HEAD_BYTES + length)) as Header;
  const columns = Buffer.from(file.subarray(HEAD_BYTES + length));
  change(header, columns);
  for (const place of Object.values(header.columns)) {
    const bytes = place.length * (WIDTHS[place.type] ?? 1);
    place.crc = crc32(columns.subarray(place.offset, place.offset + bytes));
  }
  const text = Buffer.from(JSON.stringify(header));
  const padded = Buffer.alloc(Math.ceil(text.length / 8) * 8, ' ');
  text.copy(padded);
  const head = Buffer.from(file.subarray(0, HEAD_BYTES));
  head.writeUInt32LE(padded.length, 12);
  head.writeUInt32LE(crc32(padded), 16);
  return Buffer.concat([head, padded, columns]);
}

/** Every number of a JSON value, to be replaced one by one. */
function* numbersIn(value: unknown): Generator<(to: unknown) => void> {
  if (typeof value !== 'object' || value === null) return;
  const object = value as Record<string, unknown>;
  for (const key of Object.keys(object)) {
    if (typeof object[key] === 'number') yield (to) => (object[key] = to);
    else yield* numbersIn(object[key]);
  }
}

async function lookAtForged(file: string, bytes: Buffer, what: string): Promise<void> {
  for (const [name, original] of written) writeFileSync(name, original);
  writeFileSync(file, bytes);
  try {
    await lookAtAll();
  } catch (error) {
    throw new Error(`${basename(file)}, ${what}`, { cause: error });
  }
}

describe('an index that an enemy has made, with right checksums', { timeout: 60_000 }, () => {
  it('is harmless, whatever its columns are', async () => {
    let count = 0;
    for (const [file, original] of written) {
      const names: string[] = [];
      forged(original, ({ columns }) => names.push(...Object.keys(columns)));
      for (const name of names) {
        for (const fill of [0xff, 0x7f, 0x01]) {
          const bytes = forged(original, (header, columns) => {
            const { type, length, offset } = header.columns[name]!;
            columns.fill(fill, offset, offset + length * WIDTHS[type]!);
          });
          await lookAtForged(file, bytes, `${name} full of ${fill}`);
          count++;
        }
        const shorter = forged(original, (header) => {
          header.columns[name]!.length >>= 1;
        });
        await lookAtForged(file, shorter, `${name} of half the length`);
      }
    }
    expect(count).toBeGreaterThan(50);
  });

  it('is harmless, whatever numbers it states', async () => {
    let count = 0;
    for (const [file, original] of written) {
      let numbers = 0;
      forged(original, ({ facts }) => (numbers = [...numbersIn(facts)].length));
      for (let i = 0; i < numbers; i++) {
        for (const value of [-1, 2 ** 31, Number.MAX_SAFE_INTEGER, null]) {
          const bytes = forged(original, ({ facts }) => {
            [...numbersIn(facts)][i]!(value);
          });
          await lookAtForged(file, bytes, `number ${i} is ${String(value)}`);
          count++;
        }
      }
    }
    expect(count).toBeGreaterThan(50);
  });
});
