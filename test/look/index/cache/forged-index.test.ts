import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readStored } from '../../../../src/look/index/cache/stored-source.js';
import { openLookIndex } from '../../../../src/look/index/open-look-index.js';
import { IndexedSources } from '../../../../src/look/index/serve/indexed-sources.js';
import type { ReadSource } from '../../../../src/look/index/sources/read-source.js';
import { makeReport } from '../../../../src/look/report/report.js';
import { findTraces } from '../../../../src/traces/find-traces.js';
import { withSpan } from '../../../../src/spans/active-span.js';
import { startSpan } from '../../../../src/spans/start-span.js';
import { temporaryDirectory } from '../../../heph/temporary-file.js';
import { recorded } from '../../../spans/span-trace.js';
import { columnAt, joinIndexFile, putChecksums, splitIndexFile } from './index-file.mjs';
import type { Header, Place } from './index-file.mjs';

const directory = temporaryDirectory();
const cache = join(directory, 'cache');
let path = '';
/** The files of the index as they were written. */
const written = new Map<string, Buffer>();

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
  const index = await openLookIndex([path], { cache, leastCachedBytes: 0 });
  index.close();
  for (const name of readdirSync(cache, { recursive: true, encoding: 'utf8' })) {
    if (!/^(index|part-|shape-)/.test(basename(name))) continue;
    written.set(join(cache, name), readFileSync(join(cache, name)));
  }
});

/** Reads everything that a user can see of the index, unless it is refused. */
async function lookAtAll(): Promise<void> {
  const [trace] = findTraces([path]);
  const stored = readStored(join(cache, readdirSync(cache)[0]!), trace!);
  if (stored === undefined) return;
  const source: ReadSource = { ...stored.source, state: 'ended' };
  const read = (): Promise<ReadSource[]> => Promise.resolve([source]);
  const index = new IndexedSources([source], {
    read,
    close: () => undefined,
    answers: () => undefined,
    ringDirs: [],
    faults: [],
  });
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
    await makeReport(index);
  } finally {
    index.close();
  }
}

/** A file with another header, or other columns, and checksums that are right for them. */
function forged(file: Buffer, change: (header: Header, columns: Buffer) => void): Buffer {
  const parts = splitIndexFile(file);
  const header = JSON.parse(parts.header.toString()) as Header;
  const columns = Buffer.from(parts.columns);
  change(header, columns);
  putChecksums(header, columns);
  return joinIndexFile(file, Buffer.from(JSON.stringify(header)), columns);
}

/** What a header states, to be replaced one by one. All columns are read alike: one of them is enough. */
function* statementsIn(header: Header): Generator<(to: unknown) => void> {
  const [first] = Object.keys(header.columns);
  yield* valuesIn(header.columns[first!]);
  yield (to) => (header.columns[first!] = to as Place);
  yield* valuesIn(header.facts);
  yield (to) => (header.facts = to);
  yield (to) => (header.columns = to as Header['columns']);
}

function* valuesIn(value: unknown): Generator<(to: unknown) => void> {
  if (typeof value !== 'object' || value === null) return;
  const object = value as Record<string, unknown>;
  for (const key of Object.keys(object)) {
    yield* valuesIn(object[key]);
    yield (to) => (object[key] = to);
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
            columnAt(header.columns[name]!, columns).fill(fill);
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

  it('is harmless, whatever it states', async () => {
    let count = 0;
    for (const [file, original] of written) {
      let values = 0;
      forged(original, (header) => (values = [...statementsIn(header)].length));
      for (let i = 0; i < values; i++) {
        for (const value of [-1, Number.MAX_SAFE_INTEGER, null, 'x', [null]]) {
          const bytes = forged(original, (header) => {
            [...statementsIn(header)][i]!(value);
          });
          await lookAtForged(file, bytes, `value ${i} is ${JSON.stringify(value)}`);
          count++;
        }
      }
    }
    expect(count).toBeGreaterThan(50);
  });

  it('does not keep others from the cache, whatever it is', async () => {
    const [entry] = readdirSync(cache);
    const other = join(cache, '0'.repeat(32));
    for (const facts of [null, {}, { path: 7 }]) {
      cpSync(join(cache, entry!), other, { recursive: true });
      const original = written.get(join(cache, entry!, 'index'))!;
      writeFileSync(
        join(other, 'index'),
        forged(original, (header) => (header.facts = facts)),
      );
      const index = await openLookIndex([path], { cache, leastCachedBytes: 0 });
      expect(index.rows).toBe(400);
      index.close();
    }
  });
});
