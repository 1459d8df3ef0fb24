import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { Comm, Datatype } from '../../../src/dumpi/constants.js';
import { readCalls } from '../../../src/dumpi/read/reader.js';
import type { CallRecord } from '../../../src/dumpi/read/call-record.js';
import type { RankOptions } from '../../../src/dumpi/write/rank-options.js';
import { openRank } from '../../../src/dumpi/write/rank.js';
import type { Rank } from '../../../src/dumpi/write/rank.js';
import type { WrittenCall } from '../written-calls.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-dumpi-write-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

export function runDirectory(): string {
  return mkdtempSync(join(folder, 'run-'));
}

/** Opens rank 0 of 2 in a directory of its own. */
export function open(options: Partial<RankOptions> = {}): Rank {
  return openRank({
    directory: runDirectory(),
    rank: 0,
    size: 2,
    config: { timestamps: 'wall' },
    ...options,
  });
}

export function log(rank: Rank, { name, args }: WrittenCall, thread?: number): void {
  rank.log(name, args as never, undefined, thread);
}

/** Closes the rank and reads its calls. */
export function recorded(rank: Rank): CallRecord[] {
  rank.close();
  return [...readCalls(rank.path)];
}

export function caught(action: () => void): { code: string; field: string; limit: string } {
  try {
    action();
  } catch (error) {
    return error as { code: string; field: string; limit: string };
  }
  throw new Error('nothing was thrown');
}

export const send = { count: 4, datatype: Datatype.BYTE, dest: 1, tag: 7, comm: Comm.WORLD };
