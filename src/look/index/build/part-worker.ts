import { parentPort } from 'node:worker_threads';
import { writePart } from '../cache/stored-part.js';
import { writeShape } from '../cache/stored-shape.js';
import type { ShapeTask } from '../cache/stored-source.js';
import { buildStretch, StretchMemory } from '../parts/build-stretch.js';
import type { Stretch } from '../parts/build-stretch.js';
import type { PartFacts } from '../parts/part-columns.js';
import { pyramidOf } from '../sources/source-joins.js';

/** A part to build, and the file to which it is written. */
export interface PartTask {
  stretch: Stretch;
  out: string;
}

interface FailedPart {
  number: number;
  error: string;
}

/** The tasks of a worker, and its answers. */
export type WorkerTask = { number: number } & ({ part: PartTask } | { shape: ShapeTask });
export type WorkerAnswer = { number: number; facts: PartFacts | undefined } | FailedPart;

/** @param memory is used again for the next part. */
export function buildAndWrite({ stretch, out }: PartTask, memory?: StretchMemory): PartFacts {
  const built = buildStretch(stretch, memory);
  writePart(out, built);
  return built.facts;
}

export function shapeAndWrite({ out, rows, numbers }: ShapeTask): void {
  writeShape(out, { lanes: rows.lane, pyramid: pyramidOf(rows, numbers) });
}

/** Works in a worker thread, until it is terminated. */
export function servePartWorker(): void {
  const port = parentPort!;
  const memory = new StretchMemory();
  port.on('message', (task: WorkerTask) => {
    const { number } = task;
    let answer: WorkerAnswer;
    try {
      if ('part' in task) {
        answer = { number, facts: buildAndWrite(task.part, memory) };
      } else {
        shapeAndWrite(task.shape);
        answer = { number, facts: undefined };
      }
    } catch (error) {
      answer = { number, error: String(error) };
    }
    port.postMessage(answer);
  });
}
