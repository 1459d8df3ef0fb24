// The reader of stored indexes: the three kinds of files in the entry of a trace, each with columns or
// a header that say something else. Checksums are mostly right: an attacker computes them.

import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configure, shutdown, startSpan } from 'tracewright/spans';
import { internal } from '../../scripts/package-layout.mjs';
import {
  columnAt,
  joinIndexFile,
  putChecksums,
  splitIndexFile,
} from '../../test/look/index/cache/index-file.mjs';
import { mutate } from './mutate.mjs';
import { mutateJson } from './mutate-json.mjs';

const { openLookIndex } = internal('look/index/open-look-index');
const { readStored } = internal('look/index/cache/stored-source');
const { writeShape } = internal('look/index/cache/stored-shape');
const { IndexedSources } = internal('look/index/serve/indexed-sources');
const { makeReport } = internal('look/report/report');
const { findTraces } = internal('traces/find-traces');

const REQUESTS = 6;

const traceIn = (directory) => join(directory, 'trace.heph');

/** A small recording and its index. @returns the directory of the entry. */
async function makeIndex(directory) {
  configure({ target: traceIn(directory) });
  for (let i = 0; i < REQUESTS; i++) {
    const request = startSpan('GET', { 'http.route': `/${i % 2}`, i }, { kind: 'server' });
    startSpan('child', undefined, { parent: request }).end();
    request.end();
  }
  await shutdown();
  const cache = join(directory, 'cache');
  mkdirSync(cache);
  const index = await openLookIndex([traceIn(directory)], { cache, leastCachedBytes: 0 });
  index.close();
  const [entry] = readdirSync(cache);
  return join(cache, entry);
}

const fileOf = (entry, kind) =>
  join(
    entry,
    readdirSync(entry).find((name) => name.startsWith(kind)),
  );

function withChecksums(text, columns) {
  try {
    const header = JSON.parse(text.toString());
    putChecksums(header, columns);
    return Buffer.from(JSON.stringify(header));
  } catch {
    // It is no JSON, or no header.
    return text;
  }
}

/** @type {typeof mutate} */
function mutateFile(good, random) {
  const bytes = Buffer.from(random.pick(good));
  if (random.chance(0.1)) return mutate([bytes], random);
  let { header, columns } = splitIndexFile(bytes);
  if (random.chance(0.4)) header = mutateJson([header], random);
  else columns = mutateColumn(header, Buffer.from(columns), random);
  return joinIndexFile(
    bytes,
    random.chance(0.9) ? withChecksums(header, columns) : header,
    columns,
  );
}

/** Changes bytes of one column, which keeps its length. */
function mutateColumn(header, columns, random) {
  const places = Object.values(JSON.parse(header.toString()).columns);
  const used = places.filter(({ length }) => length > 0);
  if (used.length === 0) return columns;
  const column = columnAt(random.pick(used), columns);
  const changed = mutate([column], random);
  changed.copy(column, 0, 0, Math.min(changed.length, column.length));
  return columns;
}

/** A part says of itself what the index says of it: an attacker writes both. */
function repeatFacts(index, original) {
  try {
    const [{ facts }] = JSON.parse(splitIndexFile(index).header.toString()).facts.parts;
    const { header, columns } = splitIndexFile(original);
    const changed = JSON.stringify({ ...JSON.parse(header.toString()), facts });
    return joinIndexFile(original, Buffer.from(changed), columns);
  } catch {
    // The index is of no use.
    return original;
  }
}

/** Reads all that an index says; 0: it is refused. */
async function lookAt(entry, path) {
  const stored = readStored(entry, findTraces([path])[0]);
  if (stored === undefined) return 0;
  // Nobody looks for processes that still write it.
  const source = { ...stored.source, state: 'ended' };
  const reader = { read: () => Promise.resolve([source]), close() {}, ringDirs: [], faults: [] };
  const index = new IndexedSources([source], reader);
  try {
    for (const part of index.parts) {
      for (let at = 0; at < Math.min(part.count, 2 * REQUESTS); at++) {
        part.names.text(part.name[at]);
        index.span(part.firstRow + at);
        index.details(part.firstRow + at);
      }
    }
    const tracks = index.tracks.map(({ number }) => number);
    index.windows(0, Math.max(1, index.length), 100, tracks);
    index.windows(0, 1000, 100, tracks);
    let found = 1;
    for await (const rows of index.find({ attributes: [{ name: 'i', value: '3' }] })) {
      found += rows.length;
    }
    JSON.stringify(await makeReport(index, { pictures: 3 }));
    return found;
  } finally {
    index.close();
  }
}

/**
 * @param {string} kind the first letters of the file's name.
 * @param {(path: string) => Buffer[]} [more] further good inputs.
 */
function indexReader(kind, more = () => []) {
  let entry;
  /** Where the input goes. */
  let file;
  let part;
  let original;
  return {
    name: `look index, ${kind} file`,
    async seeds(directory) {
      entry = await makeIndex(directory);
      file = fileOf(entry, kind);
      part = fileOf(entry, 'part');
      original = readFileSync(part);
      return [readFileSync(file), ...more(join(directory, 'seed'))];
    },
    mutate: mutateFile,
    headerBytes: 0,
    open: traceIn,
    read(path, bytes) {
      writeFileSync(file, bytes);
      if (kind === 'index') writeFileSync(part, repeatFacts(bytes, original));
      return lookAt(entry, path);
    },
  };
}

/** Parts with so few rows have no pyramid of their own. */
function shapeWithPyramid(path) {
  const rows = 2 * REQUESTS;
  const pyramid = {
    first: 20,
    ends: Uint32Array.of(2, 3),
    bucket: Float64Array.of(0, 1, 0),
    key: new Uint32Array(3),
    count: Uint32Array.of(1, 1, 2),
    failed: Uint32Array.of(0, 1, 1),
    row: Uint32Array.of(0, 1, 0),
    wide: Uint32Array.from({ length: rows - 2 }, (_, at) => at + 2),
  };
  writeShape(path, { lanes: new Uint16Array(rows), pyramid });
  return [readFileSync(path)];
}

export const indexReaders = [
  indexReader('index'),
  indexReader('part'),
  indexReader('shape', shapeWithPyramid),
];
