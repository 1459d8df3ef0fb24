import { statSync } from 'node:fs';
import { UsageError } from './command.js';
import { dumpiFormat } from './dumpi-format.js';
import { hephFormat } from './heph-format.js';
import { ovniFormat } from './ovni-format.js';
import type { TraceFormat } from './trace-format.js';

/** Every format that the command knows, in the order in which a directory's traces are treated. */
const formats: readonly TraceFormat[] = [ovniFormat, hephFormat, dumpiFormat];

/** A trace and what it is one of. */
export interface FoundTrace {
  format: TraceFormat;
  path: string;
}

/**
 * The traces that a path stands for: itself, or those in a directory. A directory that the register
 * hook made holds an ovni trace in `ovni` and a file for each Heph trace in `heph`.
 *
 * @throws UsageError when there is nothing at the path, or nothing that the command knows.
 */
export function findTraces(path: string): FoundTrace[] {
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) {
      const found = formats.flatMap((format) =>
        format.tracesIn(path).map((trace) => ({ format, path: trace })),
      );
      if (found.length > 0) return found;
    } else if (stats.isFile()) {
      const format = formats.find((candidate) => candidate.isTraceFile(path));
      if (format !== undefined) return [{ format, path }];
    } else {
      throw new UsageError(`${path} is neither a file nor a directory`);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot read ${path}: ${(error as Error).message}`);
  }
  throw new UsageError(
    `${path} holds no trace; a Heph trace begins with a packet or ends in .heph, ` +
      'an ovni trace is a directory with loom.<name> in it, a DUMPI trace begins with its magic or ' +
      'is a .meta file',
  );
}
