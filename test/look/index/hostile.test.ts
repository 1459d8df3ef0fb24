import fc from 'fast-check';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { MISSING_PARENT, NO_PARENT } from '../../../src/look/index/look-index.js';
import type { IndexPart, LookIndex } from '../../../src/look/index/look-index.js';
import { withSpan } from '../../../src/spans/active-span.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { recorded } from '../../spans/span-trace.js';

const directory = temporaryDirectory();

interface MadeSpan {
  name?: string;
  id: number;
  parent?: number;
  start?: bigint;
  end?: bigint;
  attributes?: [string, number][];
}

function word(name: string, value: bigint): Buffer {
  const bytes = Buffer.alloc(3 + name.length + 8);
  bytes.writeUInt16BE(name.length, 0);
  bytes.write(name, 2, 'latin1');
  bytes[2 + name.length] = 1;
  bytes.writeBigUInt64BE(BigInt.asUintN(64, value), 3 + name.length);
  return bytes;
}

/** A span as a hostile writer could make it. */
function spanBytes({
  name = 'x',
  id,
  parent = 0,
  start = 0n,
  end = 10n,
  attributes = [],
}: MadeSpan): Buffer {
  const parts = [
    word('~t', 1n),
    word('~s', BigInt(id)),
    word('~p', BigInt(parent)),
    word('~f', 1n),
    ...attributes.map(([key, value]) => word(key, BigInt(value))),
  ];
  const text = Buffer.from(name);
  const head = Buffer.alloc(42);
  const size = 42 + text.length + parts.reduce((sum, { length }) => sum + length, 0);
  head.writeUInt32BE(0xc1fc_1fb7, 0);
  head.writeUInt32BE(size, 4);
  head.writeBigUInt64BE(7n, 16);
  head.writeBigUInt64BE(start, 24);
  head.writeBigUInt64BE(end, 32);
  head.writeUInt16BE(text.length, 40);
  return Buffer.concat([head, text, ...parts]);
}

let files = 0;
function indexOf(records: Buffer[]): Promise<LookIndex> {
  const path = join(directory, `hostile ${++files}.heph`);
  writeFileSync(path, Buffer.concat(records));
  return openLookIndex([path], { cache: false });
}

/** Places of the rows without their parent. */
function missingIn({ parent }: IndexPart): number[] {
  const rows: number[] = [];
  for (const [at, row] of parent.entries()) if (row === MISSING_PARENT) rows.push(at);
  return rows;
}

/** Everything that a page or a report asks an index for. */
async function useAll(index: LookIndex): Promise<number> {
  let found = 0;
  for await (const rows of index.find({ name: '*', attributes: [{ name: 'a', value: '1' }] })) {
    found += rows.length;
  }
  for await (const rows of index.find({ missingParent: true })) found += rows.length;
  const tracks = index.tracks.map(({ number }) => number);
  index.windows(0, index.length, 1000, tracks);
  index.windows(index.length / 2, index.length / 2 + 1, 1000, tracks);
  for (const part of index.parts) {
    for (let at = 0; at < part.count; at++) {
      if (!(part.duration[at]! >= 0)) throw new Error(`duration ${part.duration[at]}`);
    }
    expect([...part.missingParents]).toEqual(missingIn(part));
    for (let at = 0; at < Math.min(part.count, 50); at++) {
      index.span(part.firstRow + at);
      index.details(part.firstRow + at);
    }
  }
  index.close();
  return found;
}

test('cycles of parents, duplicate ids and spans that are their own parent', async () => {
  const index = await indexOf([
    spanBytes({ id: 1, parent: 2 }),
    spanBytes({ id: 2, parent: 3 }),
    spanBytes({ id: 3, parent: 1 }),
    spanBytes({ id: 4, parent: 4 }),
    spanBytes({ id: 5 }),
    spanBytes({ id: 5, parent: 5 }),
    spanBytes({ id: 6, parent: 5 }),
    spanBytes({ id: 7, parent: 99 }),
  ]);
  const [part] = index.parts;
  for (let at = 0; at < part!.count; at++) {
    let parent: number = part!.parent[at]!;
    for (let steps = 0; parent >= 0; steps++) {
      expect(steps).toBeLessThan(part!.count);
      parent = part!.parent[parent]!;
    }
    expect([NO_PARENT, MISSING_PARENT]).toContain(parent);
  }
  await useAll(index);
});

test('spans of 290 years, negative durations and starts at the end of time', async () => {
  const most = 2n ** 64n - 1n;
  const index = await indexOf([
    spanBytes({ id: 1, start: 0n, end: 9_150_000_000_000_000_000n }),
    spanBytes({ id: 2, start: 100n, end: 50n }),
    spanBytes({ id: 3, start: most, end: 0n }),
    spanBytes({ id: 4, start: most, end: most }),
    ...Array.from({ length: 40_000 }, (_, i) =>
      spanBytes({ id: i + 10, start: BigInt(i) * 400_000_000_000_000n, end: most }),
    ),
  ]);
  expect(index.rows).toBe(40_004);
  expect(Number.isFinite(index.length)).toBe(true);
  await useAll(index);
});

test('many attributes, names and equal spans take linear time', async () => {
  const time = async (count: number): Promise<number> => {
    const attributes = Array.from({ length: count }, (_, i): [string, number] => [`a${i}`, i]);
    const from = performance.now();
    await useAll(
      await indexOf([
        spanBytes({ id: 1, attributes }),
        ...Array.from({ length: count }, (_, i) => spanBytes({ id: i + 2, name: `name ${i}` })),
        ...Array.from({ length: count }, () => spanBytes({ id: 7, parent: 7 })),
      ]),
    );
    return performance.now() - from;
  };
  await time(1000);
  const small = await time(4000);
  const large = await time(32_000);
  // Quadratic time would be 64 times as much.
  expect(large).toBeLessThan(small * 8 * 4 + 500);
});

test('whatever lies in a file, the index is made', async () => {
  let path = '';
  await recorded(directory, (target) => {
    path = target;
    for (let i = 0; i < 20; i++) {
      withSpan('request', { a: 1, b: ['x', 2], c: null, d: 1.5 }, (span) => {
        span.event('happened', { why: 'no' });
        startSpan('child').end();
      });
    }
  });
  const bytes = readFileSync(path);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      fc.nat(bytes.length),
      async (changes, length) => {
        const changed = Buffer.from(bytes);
        for (const [at, value] of changes) changed[at] = value;
        await useAll(await indexOf([changed.subarray(0, Math.max(length, 100))]));
      },
    ),
    { numRuns: 100 },
  );
});

test('cycles of parents across files are cut once, also for what hangs below them', async () => {
  // 2 → 3 → 2 is a cycle across the files; 4 and 5 lie below it, 6 below a parent that is missing.
  const paths = [
    [spanBytes({ id: 2, parent: 3 }), spanBytes({ id: 4, parent: 3 })],
    [
      spanBytes({ id: 3, parent: 2 }),
      spanBytes({ id: 5, parent: 4 }),
      spanBytes({ id: 6, parent: 9 }),
    ],
  ].map((records, i) => {
    const path = join(directory, `cycle ${i}.heph`);
    writeFileSync(path, Buffer.concat(records));
    return path;
  });
  const index = await openLookIndex(paths, { cache: false });
  const places = new Map<number, { parent: number; row: number }>();
  for (const part of index.parts) {
    for (let at = 0; at < part.count; at++) {
      const id = part.spanId[2 * at + 1]!;
      places.set(id, { parent: part.parent[at]!, row: part.firstRow + at });
    }
  }
  const parentOf = (id: number): number => places.get(id)!.parent;
  const rowOf = (id: number): number => places.get(id)!.row;
  expect([parentOf(2), parentOf(3)].filter((row) => row === MISSING_PARENT)).toHaveLength(1);
  expect(parentOf(4)).toBe(rowOf(3));
  expect(parentOf(5)).toBe(rowOf(4));
  expect(parentOf(6)).toBe(MISSING_PARENT);
  await useAll(index);
});

test('the work of joining files is linear in their rows', { timeout: 30_000 }, async () => {
  const spans = 20_000;
  // A span below the other, all the way down, and as many below the last one in another file.
  const chain = Array.from({ length: spans }, (_, i) =>
    spanBytes({ id: i + 2, parent: i + 1, start: BigInt(i) }),
  );
  const below = Array.from({ length: spans }, (_, i) =>
    spanBytes({ id: spans + i + 2, parent: spans + 1, start: BigInt(i) }),
  );
  const paths = [chain, below].map((records, i) => {
    const path = join(directory, `deep ${i}.heph`);
    writeFileSync(path, Buffer.concat(records));
    return path;
  });
  const cache = join(directory, 'cache');
  const index = await openLookIndex(paths, { cache, leastCachedBytes: 0 });
  const [, second] = index.parts;
  const parents = new Set(second!.parent);
  expect(parents).toEqual(new Set([spans - 1]));
  index.close();
});
