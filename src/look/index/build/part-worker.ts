import { parentPort } from 'node:worker_threads';
import type {
  BuildTask,
  NumberedTask,
  PartAnswer,
  PartTask,
  ReadTask,
  ShapeTask,
} from '../cache/part-thread.js';
import { PartFile, writePart } from '../cache/stored-part.js';
import { writeShape } from '../cache/stored-shape.js';
import { buildStretch, StretchMemory } from '../parts/build-stretch.js';
import type { PartFacts } from '../parts/part-columns.js';
import { pyramidOf } from '../sources/source-joins.js';
import type { Column } from '../../wire/columns.js';

/** @param memory is used again for the next part. */
export function buildAndWrite({ stretch, out }: BuildTask, memory?: StretchMemory): PartFacts {
  const built = buildStretch(stretch, memory);
  writePart(out, built);
  return built.facts;
}

export function shapeAndWrite({ out, rows, numbers }: ShapeTask): void {
  writeShape(out, { lanes: rows.lane, pyramid: pyramidOf(rows, numbers) });
}

function readColumns({ path, facts, stretch, names }: ReadTask): Column[] {
  const part = new PartFile(path, facts, stretch);
  try {
    return part.columns(names);
  } finally {
    part.close();
  }
}

/** Works in a worker thread, until it is terminated. */
export function servePartWorker(): void {
  const port = parentPort!;
  const memory = new StretchMemory();
  const answerOf = (task: PartTask): { facts: PartFacts | undefined } | { columns: Column[] } => {
    if ('read' in task) return { columns: readColumns(task.read) };
    if ('build' in task) return { facts: buildAndWrite(task.build, memory) };
    shapeAndWrite(task.shape);
    return { facts: undefined };
  };
  port.on('message', ({ number, ...task }: NumberedTask) => {
    let answer: PartAnswer;
    try {
      answer = { number, ...answerOf(task) };
    } catch (error) {
      answer = { number, error: String(error) };
    }
    const columns = 'columns' in answer ? answer.columns : [];
    const memory = new Set(columns.map(({ buffer }) => buffer as ArrayBuffer));
    port.postMessage(answer, [...memory]);
  });
}
