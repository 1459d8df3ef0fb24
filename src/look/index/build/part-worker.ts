import { parentPort } from 'node:worker_threads';
import { writePart } from '../cache/stored-part.js';
import { buildStretch } from '../parts/build-stretch.js';
import type { Stretch } from '../parts/build-stretch.js';
import { RowColumns } from '../scan/row-columns.js';
import type { PartFacts } from '../parts/part-columns.js';

/** A part that a worker is to build, and the file to which it writes it. */
export interface PartTask extends Stretch {
  number: number;
  out: string;
}

/** What a worker answers. */
export type PartAnswer = { number: number; facts: PartFacts } | { number: number; error: string };

/** Builds parts in a worker thread, until it is terminated. */
export function servePartWorker(): void {
  const port = parentPort!;
  const rows = new RowColumns();
  port.on('message', (task: PartTask) => {
    let answer: PartAnswer;
    try {
      const built = buildStretch(task, rows);
      writePart(task.out, built);
      answer = { number: task.number, facts: built.facts };
    } catch (error) {
      answer = { number: task.number, error: String(error) };
    }
    port.postMessage(answer);
  });
}
