import { readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { TraceFormatError, TracewrightError } from '../../core/errors.js';
import { isDirectory, kindOf } from '../../core/files/file-kind.js';
import { convertToVersion3 } from '../../ovni/read/convert-version3.js';
import { EXIT_FAULTY, printMessage, UsageError } from '../command.js';
import { counted } from '../../core/readable-text.js';
import { findTraces } from '../../traces/find-traces.js';
import { exportOvni } from './heph-to-ovni3.js';
import { openLookIndex } from '../../look/index/open-look-index.js';
import { makeDirectories } from '../../core/files/make-directories.js';
import { readTraceDirectory } from '../../ovni/read/trace-directory.js';
import { hephFormat } from '../../spans/read/heph-format.js';
import type { FoundTrace } from '../../traces/find-traces.js';
import { ovniFormat } from '../../ovni/read/format.js';
import { ProgressLine } from '../output/progress-line.js';
import { FaultReport } from '../output/fault-report.js';
import { RingReader } from '../ring-options.js';
import type { ConversionRequest } from './export.js';

/** Names that a conversion creates in OUT. */
const CONVERTED = /^(loom\..+|clock-offsets\.txt)$/;

/** `convert --to ovni3`: the ovni trace of version 1 at PATH, or else its Heph traces, to the directory OUT. */
export async function convertToOvni3(request: ConversionRequest): Promise<number> {
  const { path, out, force } = request;
  if (out === undefined) throw new UsageError('OUT is missing');
  const faults = new FaultReport('convert');
  const traces = findTraces([path], {}, { onFault: faults.add });
  const ovni = traces.find(({ format }) => format === ovniFormat);
  const heph = traces.filter(({ format }) => format === hephFormat);
  if (ovni === undefined && heph.length === 0) {
    throw new UsageError(`${path} contains no ovni trace, and no Heph trace`);
  }
  const isOvni = ovni !== undefined && (heph.length === 0 || isVersion1(ovni.path));
  const from = isOvni ? ovni.path : path;
  const replaced = kindOf(out) !== undefined;
  if (replaced) mayBeReplaced(from, out, force);
  // The old directory stays until the new trace is complete.
  const to = replaced ? join(dirname(resolve(out)), `.${basename(out)}.${process.pid}.new`) : out;
  const rings = new RingReader('convert', request.rings, faults.add);
  const progress = new ProgressLine();
  try {
    const onProgress = progress.of(from);
    if (isOvni) rings.show(ovni);
    const { threads, events, notes } = isOvni
      ? convertToVersion3(from, to, { onProgress })
      : await convertHeph(heph, to, request, faults);
    progress.clear();
    if (replaced) {
      rmSync(out, { recursive: true });
      renameSync(to, out);
    }
    for (const note of notes) printMessage(`note: ${note.path}: ${note.message}`);
    printMessage(`${out}: ${counted(events, 'event')} of ${counted(threads, 'thread')}`);
    return faults.end();
  } catch (error) {
    progress.clear();
    if (!(error instanceof TracewrightError)) throw error;
    if (!(error instanceof TraceFormatError)) throw new UsageError(error.message);
    printMessage(`tracewright convert: ${error.message}`);
    return EXIT_FAULTY;
  } finally {
    rings.close();
  }
}

/** Writes what the Heph traces have of their processes. */
async function convertHeph(
  traces: readonly FoundTrace[],
  to: string,
  { rings: { isOff, ringDirs } }: ConversionRequest,
  faults: FaultReport,
): Promise<ReturnType<typeof convertToVersion3>> {
  if (isOff) throw new UsageError('--no-rings is not for Heph traces');
  const paths = traces.map((trace) => trace.path);
  const index = await openLookIndex(paths, { cache: false, ringDirs });
  try {
    for (const { path, reason } of index.unread) faults.addText(path, reason);
    makeDirectories(to);
    return { ...exportOvni(index, to), notes: [] };
  } finally {
    index.close();
  }
}

function isVersion1(path: string): boolean {
  return readTraceDirectory(path, { onFault: () => undefined }).version === 1;
}

/** --force replaces only what this conversion could have created. */
function mayBeReplaced(from: string, out: string, force: boolean): void {
  if (!force) throw new UsageError(`${out} exists; replace it with --force`);
  // A link to a directory is none: it is neither followed nor replaced.
  if (!isDirectory(out)) throw new UsageError(`${out} is not a directory`);
  if (!readdirSync(out).every((name) => CONVERTED.test(name))) {
    throw new UsageError(`${out} contains other files than an ovni trace; it is not replaced`);
  }
  const [source, target] = [resolve(from), resolve(out)];
  for (const [outer, inner] of [
    [source, target],
    [target, source],
  ] as const) {
    const path = relative(outer, inner);
    if (path !== '..' && !path.startsWith(`..${sep}`)) {
      throw new UsageError(`${out} and the trace ${from} contain one another`);
    }
  }
}
