import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { TraceFormatError, TracewrightError } from '../core/errors.js';
import { convertToVersion3 } from '../ovni/read/convert-version3.js';
import { EXIT_DONE, EXIT_FAULTY, UsageError } from './command.js';
import type { ConversionRequest } from './convert.js';
import { counted } from '../core/counted.js';
import { findTraces } from './detect.js';
import { ovniFormat } from './ovni-format.js';
import { ProgressLine } from './progress.js';
import { tell } from './tell.js';

/** What a conversion puts into OUT. */
const CONVERTED = /^(loom\..+|clock-offsets\.txt)$/;

/** `convert --to ovni3`: the one ovni trace at PATH to the directory OUT. */
export function convertToOvni3({ path, out, force }: ConversionRequest): Promise<number> {
  if (out === undefined) throw new UsageError('OUT is missing');
  const traces = findTraces([path]).filter(({ format }) => format === ovniFormat);
  if (traces.length === 0) throw new UsageError(`${path} holds no ovni trace`);
  const from = traces[0]!.path;
  const replaced = existsSync(out);
  if (replaced) mayBeReplaced(from, out, force);
  // What is replaced stays until the new trace is whole.
  const to = replaced ? join(dirname(resolve(out)), `.${basename(out)}.${process.pid}.new`) : out;
  const progress = new ProgressLine();
  try {
    const onProgress = progress.of(from);
    const { threads, events, notes } = convertToVersion3(from, to, onProgress && { onProgress });
    progress.clear();
    if (replaced) {
      rmSync(out, { recursive: true });
      renameSync(to, out);
    }
    for (const note of notes) tell(`note: ${note.path}: ${note.message}`);
    tell(`${out}: ${counted(events, 'event')} of ${counted(threads, 'thread')}`);
    return Promise.resolve(EXIT_DONE);
  } catch (error) {
    progress.clear();
    if (!(error instanceof TracewrightError)) throw error;
    if (!(error instanceof TraceFormatError)) throw new UsageError(error.message);
    tell(`tracewright convert: ${error.message}`);
    return Promise.resolve(EXIT_FAULTY);
  }
}

/** What --force takes away must be what this conversion could have made. */
function mayBeReplaced(from: string, out: string, force: boolean): void {
  if (!force) throw new UsageError(`${out} exists already; --force replaces it`);
  if (!statSync(out).isDirectory()) throw new UsageError(`${out} is not a directory`);
  if (!readdirSync(out).every((name) => CONVERTED.test(name))) {
    throw new UsageError(`${out} holds other things than an ovni trace; it is not replaced`);
  }
  const [source, target] = [resolve(from), resolve(out)];
  for (const [outer, inner] of [
    [source, target],
    [target, source],
  ] as const) {
    const path = relative(outer, inner);
    if (path !== '..' && !path.startsWith(`..${sep}`)) {
      throw new UsageError(`${out} and the trace ${from} lie in one another`);
    }
  }
}
