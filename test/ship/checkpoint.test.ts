import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Checkpoint } from '../../src/ship/checkpoint.js';
import type { SpanPosition } from '../../src/spans/read/span-follower.js';
import { temporaryDirectory } from '../heph/temporary-file.js';

const directory = temporaryDirectory();
const TARGET = 'http://127.0.0.1/v1/traces';
let files = 0;

const at = (offset: number): SpanPosition => ({
  identity: '1:2',
  offset,
  definitions: [23],
  clocks: [707],
  fromRings: [[4_294_967_295, 4_294_967_290, 3]],
});

/** What a process finds whose predecessor was killed now. */
function afterKill(path: string): ReadonlyMap<string, SpanPosition> {
  const copy = `${path}.${++files}`;
  appendFileSync(copy, readFileSync(path));
  const next = new Checkpoint(copy);
  try {
    return new Map(next.positionsOf(TARGET));
  } finally {
    next.close();
  }
}

describe('a checkpoint', () => {
  it('has each acknowledgement, of however many files', () => {
    const path = join(directory, 'many');
    const checkpoint = new Checkpoint(path);
    const all = new Map(Array.from({ length: 5000 }, (_, i) => [`/traces/${i}.heph`, at(1)]));
    checkpoint.reach(TARGET, all);
    checkpoint.save();
    for (let i = 0; i < 100; i++) {
      const file = `/traces/${i * 7}.heph`;
      checkpoint.reach(TARGET, new Map([[file, at(i + 2)]]));
      checkpoint.saveSoon();
      all.set(file, at(i + 2));
    }
    checkpoint.forget(TARGET, '/traces/3.heph');
    checkpoint.saveSoon();
    all.delete('/traces/3.heph');
    expect(afterKill(path)).toEqual(all);
    // Each one is a line, and not all of the file again.
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(103);
    checkpoint.close();
  });

  it('takes what is whole, when the computer was stopped while it was written', () => {
    const path = join(directory, 'cut');
    const checkpoint = new Checkpoint(path);
    for (const offset of [1, 2, 3]) {
      checkpoint.reach(TARGET, new Map([['/a', at(offset)]]));
      checkpoint.saveSoon();
    }
    checkpoint.close();
    const bytes = readFileSync(path);
    const whole = bytes.indexOf('\n') + 1;
    for (let length = whole; length < bytes.length; length += 7) {
      const cut = join(directory, `cut-${length}`);
      appendFileSync(cut, bytes.subarray(0, length));
      appendFileSync(cut, Buffer.alloc(length % 3 === 0 ? 100 : 0));
      const found = afterKill(cut).get('/a')!.offset;
      expect([1, 2, 3]).toContain(found);
      // What was written whole counts.
      const lines = bytes.subarray(0, length).toString().split('\n').length - 1;
      expect(found).toBeGreaterThanOrEqual(lines);
    }
  });

  it('is written again after somebody has deleted it, and after it has grown', () => {
    const path = join(directory, 'again');
    const checkpoint = new Checkpoint(path);
    checkpoint.reach(TARGET, new Map([['/a', at(1)]]));
    checkpoint.save();
    rmSync(path);
    checkpoint.reach(TARGET, new Map([['/b', at(2)]]));
    checkpoint.save();
    expect([...afterKill(path).keys()]).toEqual(['/a', '/b']);
    for (let i = 0; i < 20_000; i++) {
      checkpoint.reach(TARGET, new Map([['/b', at(i)]]));
      if (i % 1000 === 0) checkpoint.save();
      else checkpoint.saveSoon();
    }
    expect(readFileSync(path).length).toBeLessThan(2 << 20);
    expect(afterKill(path).get('/b')!.offset).toBe(19_999);
    checkpoint.close();
  });
});
