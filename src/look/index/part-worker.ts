import { closeSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { openRegularFile } from '../../core/files/regular-file.js';
import { buildPart } from './build-part.js';
import { HephScan } from './heph-scan.js';
import { HephWalk } from './heph-walk.js';
import type { BuiltPart, PartFacts } from './part-columns.js';
import { writePart } from './stored-part.js';
import { TraceClock } from './trace-clock.js';
import type { ClockState } from './trace-clock.js';

/** A stretch of a Heph file, of whole records. */
export interface Stretch {
  path: string;
  from: number;
  to: number;
  /** Records in it. */
  records: number;
  /** What the records before it have said of times. */
  clock: ClockState;
}

/** A part that a worker is to build, and the file to which it writes it. */
export interface PartTask extends Stretch {
  number: number;
  out: string;
}

/** What a worker answers. */
export type PartAnswer = { number: number; facts: PartFacts } | { number: number; error: string };

export function buildStretch({ path, from, to, records, clock }: Stretch): BuiltPart {
  const { fd } = openRegularFile(path, 'followed');
  try {
    const walk = new HephWalk(fd, from, to);
    const scan = new HephScan(new TraceClock(clock), from, records);
    for (let run = walk.next(); run !== undefined; run = walk.next()) {
      scan.take(run.bytes, run.view, run.from, run.to, run.offset);
    }
    return buildPart(scan, from, to);
  } finally {
    closeSync(fd);
  }
}

/** Builds parts in a worker thread, until it is terminated. */
export function servePartWorker(): void {
  const port = parentPort!;
  port.on('message', (task: PartTask) => {
    let answer: PartAnswer;
    try {
      const built = buildStretch(task);
      writePart(task.out, built);
      answer = { number: task.number, facts: built.facts };
    } catch (error) {
      answer = { number: task.number, error: String(error) };
    }
    port.postMessage(answer);
  });
}
