import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { beforeEach, expect, test } from 'vitest';
import { clearCache, openLookIndex } from '../../../../src/look/index/open-look-index.js';
import type { LookIndex } from '../../../../src/look/index/look-index.js';
import { withSpan } from '../../../../src/spans/active-span.js';
import { startSpan } from '../../../../src/spans/start-span.js';
import { temporaryDirectory } from '../../../heph/temporary-file.js';
import { recorded } from '../../../spans/span-trace.js';

const directory = temporaryDirectory();
let number = 0;
let own = '';
let cache = '';

beforeEach(() => {
  own = join(directory, String(++number));
  cache = join(own, 'cache');
  mkdirSync(own);
});

async function trace(requests: number): Promise<string> {
  let path = '';
  await recorded(own, (target) => {
    path = target;
    for (let i = 0; i < requests; i++) {
      withSpan(`request ${i % 5}`, { i }, () => {
        startSpan('child').end();
      });
    }
  });
  return path;
}

const open = (...paths: string[]): Promise<LookIndex> =>
  openLookIndex(paths, { cache, leastCachedBytes: 0 });

/** Everything that an index says of its rows. */
function contentOf(index: LookIndex): unknown[] {
  const rows = index.parts.flatMap((part) =>
    Array.from({ length: part.count }, (_, at) => [
      part.start[at]! + part.offset,
      part.duration[at],
      part.names.text(part.name[at]!),
      part.track[at],
      part.lane[at],
      part.traceId(part.trace[at]!),
      part.parent[at],
      part.flags[at],
      index.span(part.firstRow + at)?.spanId,
    ]),
  );
  index.close();
  return rows;
}

/** The sources run in this thread alone: only the built package has a file that a thread can load. */
const { look_index_open_look_index: built } = createRequire(import.meta.url)(
  '../../../../dist/look/index.js',
) as {
  look_index_open_look_index: typeof import('../../../../src/look/index/open-look-index.js');
};

async function fresh(path: string): Promise<unknown[]> {
  return contentOf(await openLookIndex([path], { cache: false }));
}

function filesOf(): string[] {
  return readdirSync(cache, { recursive: true, encoding: 'utf8' })
    .map((name) => join(cache, name))
    .filter((path) => statSync(path).isFile());
}

test('what is stored says what is read', async () => {
  const path = await trace(300);
  const wanted = await fresh(path);
  expect(contentOf(await open(path))).toEqual(wanted);
  const [part] = filesOf().filter((name) => name.includes('part-'));
  const { mtimeMs } = statSync(part!);
  expect(contentOf(await open(path))).toEqual(wanted);
  expect(statSync(part!).mtimeMs).toBe(mtimeMs);
  expect(statSync(cache).mode & 0o777).toBe(0o700);
  for (const file of filesOf()) expect(statSync(file).mode & 0o077).toBe(0);
});

test('a file that has grown is read on, and the rows are those of the whole', async () => {
  const path = await trace(300);
  const more = readFileSync(await trace(200));
  contentOf(await open(path));
  // Half a record, then the rest of it.
  appendFileSync(path, more.subarray(0, 10_000));
  contentOf(await open(path));
  appendFileSync(path, more.subarray(10_000));
  expect(contentOf(await open(path))).toEqual(await fresh(path));
});

test('worker threads of the built package write the same index', async () => {
  const path = await trace(300);
  const more = readFileSync(await trace(200));
  let workers = 0;
  const count = (): number => workers++;
  process.on('worker', count);
  try {
    for (const bytes of [Buffer.alloc(0), more]) {
      appendFileSync(path, bytes);
      const before = workers;
      const rows = contentOf(await built.openLookIndex([path], { cache, leastCachedBytes: 0 }));
      expect(workers).toBeGreaterThan(before);
      expect(rows).toEqual(await fresh(path));
      const [part] = filesOf().filter((name) => name.includes('part-'));
      const { mtimeMs } = statSync(part!);
      expect(contentOf(await open(path))).toEqual(rows);
      expect(statSync(part!).mtimeMs).toBe(mtimeMs);
    }
  } finally {
    process.off('worker', count);
  }
});

test('a thread of the built package reads columns, also damaged ones', async () => {
  const path = await trace(33_000);
  const wanted = await fresh(path);
  contentOf(await open(path));
  const columns = ['start', 'duration', 'name', 'parent', 'flags', 'traceIds'] as const;
  const [part] = filesOf().filter((name) => name.includes('part-'));
  const started = once(process, 'worker') as Promise<[Worker]>;
  const loaded = async (): Promise<unknown[]> => {
    const index = await built.openLookIndex([path], { cache, leastCachedBytes: 0 });
    await Promise.all(index.parts.map((each) => each.load(columns)));
    return contentOf(index);
  };
  expect(await loaded()).toEqual(wanted);
  const [worker] = await started;
  const bytes = readFileSync(part!);
  bytes[bytes.length >> 1]! ^= 0x55;
  writeFileSync(part!, bytes);
  expect(await loaded()).toEqual(wanted);
  // Without the thread they are read where they are asked for.
  await worker.terminate();
  expect(await loaded()).toEqual(wanted);
});

test('a file that was truncated, replaced or written to is read anew', async () => {
  const path = await trace(300);
  contentOf(await open(path));
  truncateSync(path, 20_000);
  expect(contentOf(await open(path))).toEqual(await fresh(path));
  const other = await trace(250);
  rmSync(path);
  cpSync(other, path);
  expect(contentOf(await open(path))).toEqual(await fresh(path));
  const bytes = readFileSync(path);
  const place = bytes.lastIndexOf('request 3');
  bytes.write('request 4', place);
  writeFileSync(path, bytes);
  utimesSync(path, new Date(), new Date(Date.now() + 5000));
  expect(contentOf(await open(path))).toEqual(await fresh(path));
});

test('a damaged or foreign index is made anew, wherever it is damaged', async () => {
  const path = await trace(100);
  const wanted = await fresh(path);
  contentOf(await open(path));
  for (const kind of ['index', 'part-', 'shape-']) {
    for (let i = 0; i < 40; i++) {
      const file = filesOf().find((path) => basename(path).startsWith(kind))!;
      const bytes = readFileSync(file);
      const place = Math.floor((i * bytes.length) / 40);
      bytes[place]! ^= 0x55;
      writeFileSync(file, bytes);
      expect(contentOf(await open(path)), `${kind} ${place}`).toEqual(wanted);
    }
    clearCache(cache);
    contentOf(await open(path));
  }
  for (const file of filesOf()) chmodSync(file, 0o666);
  expect(contentOf(await open(path))).toEqual(wanted);
  for (const file of filesOf()) truncateSync(file, 40);
  expect(contentOf(await open(path))).toEqual(wanted);
});

test('entries of deleted traces go, and the cache can be cleared and limited', async () => {
  const one = await trace(50);
  const two = await trace(50);
  const three = await trace(50);
  contentOf(await open(one, two));
  expect(readdirSync(cache)).toHaveLength(2);
  rmSync(one);
  contentOf(await open(three));
  expect(readdirSync(cache)).toHaveLength(2);
  contentOf(await openLookIndex([three], { cache, leastCachedBytes: 0, cacheBytes: 1 }));
  expect(readdirSync(cache)).toHaveLength(0);
  contentOf(await open(two));
  writeFileSync(join(cache, 'notes.txt'), 'of a user');
  clearCache(cache);
  expect(readdirSync(cache)).toEqual(['notes.txt']);
});

test('a directory that others may write is not used', async () => {
  const path = await trace(50);
  mkdirSync(cache);
  chmodSync(cache, 0o777);
  expect(contentOf(await open(path))).toEqual(await fresh(path));
  expect(readdirSync(cache)).toEqual([]);
});
