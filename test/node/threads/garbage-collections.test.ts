import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clockNow } from '../../../src/core/clock.js';
import { CollectionEntries } from '../../../src/node/threads/collection-entries.js';
import { MAJOR, MINOR } from '../../../src/node/threads/pauses.js';
import type { Collection } from '../../../src/node/threads/pauses.js';
import { GarbageCollections } from '../../../src/node/threads/garbage-collections.js';

const MS = 1_000_000;

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as (how?: { type: 'minor' }) => void;

function collect(type: 'major' | 'minor'): void {
  if (type === 'major') gc();
  else gc({ type });
}

// The thread's collections are noted once for all tests.
let collections: GarbageCollections;
const noted: Collection[] = [];

beforeAll(() => {
  collections = new GarbageCollections((collection) => noted.push(collection));
});

afterAll(() => {
  collections.close();
});

describe('the garbage collections of a thread', () => {
  it('are noted with their kinds and times, before the loop waits', async () => {
    noted.length = 0;
    const from = Number(clockNow());
    collect('major');
    collect('minor');
    const to = Number(clockNow());
    expect(noted).toEqual([]);
    // The loop is before or after its wait.
    await turn();
    await turn();
    const kinds = noted.map(({ kind }) => kind);
    expect(kinds).toContain(MAJOR);
    expect(kinds).toContain(MINOR);
    for (const [i, each] of noted.entries()) {
      expect(each.to).toBeGreaterThan(each.from);
      if (i > 0) expect(each.from).toBeGreaterThanOrEqual(noted[i - 1]!.to);
    }
    const own = noted.filter((each) => each.from >= from - MS && each.to <= to + MS);
    expect(own.length).toBeGreaterThanOrEqual(2);
  });

  it('are reported at once when the thread ends', () => {
    collections.flush();
    noted.length = 0;
    collect('major');
    collections.flush();
    expect(noted.map(({ kind }) => kind)).toContain(MAJOR);
    noted.length = 0;
    collections.flush();
    expect(noted).toEqual([]);
  });

  it('are all there if more of them wait than are moved at once', () => {
    collections.flush();
    noted.length = 0;
    for (let i = 0; i < 150; i++) collect('minor');
    collections.flush();
    expect(noted.filter(({ kind }) => kind === MINOR).length).toBeGreaterThanOrEqual(150);
  });

  it("are the same by Node's own observer, where the native core has none", async () => {
    let calls = 0;
    const entries = new CollectionEntries(() => {
      calls += 1;
    });
    await turn();
    collections.flush();
    noted.length = 0;
    entries.take();
    collect('major');
    await pause(20);
    collections.flush();
    const observed = entries.take().filter(({ kind }) => kind === MAJOR);
    const own = noted.filter(({ kind }) => kind === MAJOR);
    entries.close();
    expect(calls).toBeGreaterThan(0);
    expect(observed).toHaveLength(own.length);
    for (const [i, { from, to }] of own.entries()) {
      expect(Math.abs(observed[i]!.from - from)).toBeLessThan(MS);
      expect(Math.abs(observed[i]!.to - to)).toBeLessThan(MS);
    }
  });
});
