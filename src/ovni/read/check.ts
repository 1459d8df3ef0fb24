import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CheckOptions, Finding, Progress } from '../../core/finding.js';
import { ownOptions } from '../../core/options/argument.js';
import { CpuCheck } from './check-cpus.js';
import { checkMetadata } from './check-metadata.js';
import { checkStream } from './check-stream.js';
import type { StreamSummary } from './check-stream.js';
import { TaskCheck } from './check-tasks.js';
import { MAX_GAP_NANOSECONDS } from './clock-offsets.js';
import { FindingCollector } from './finding-collector.js';
import { mergeStreams } from './merge-streams.js';
import { clockOffsetOf, readTrace } from './trace-directory.js';
import type { TraceDirectory } from './trace-directory.js';

/** Checks what depends on the order of events of different threads: their CPUs and their tasks. */
function checkOrder(
  trace: TraceDirectory,
  out: FindingCollector,
  onProgress: Progress | undefined,
): void {
  const cpus = new CpuCheck(trace, out);
  // The emulator of version 1 has other declarations of these events.
  const tasks = trace.version === 3 ? new TaskCheck(out) : undefined;
  const options = { onFault: () => undefined, onProgress };
  for (const { stream, event } of mergeStreams(trace, trace.streams, options)) {
    cpus.event(stream, event);
    tasks?.event(stream, event);
  }
}

/** The path by which the emulator orders streams: its reference for the clocks is the first. */
function emulatorOrder(a: StreamSummary, b: StreamSummary): number {
  const [pathA, pathB] = [dirname(a.stream.path), dirname(b.stream.path)];
  return pathA < pathB ? -1 : pathA > pathB ? 1 : 0;
}

function checkGap(summaries: readonly StreamSummary[], out: FindingCollector): void {
  let reference: StreamSummary | undefined;
  for (const summary of [...summaries].sort(emulatorOrder)) {
    if (summary.firstClock === undefined) continue;
    reference ??= summary;
    const gap = summary.firstClock - reference.firstClock!;
    if ((gap < 0n ? -gap : gap) <= MAX_GAP_NANOSECONDS) continue;
    out.report(
      'clock-gap',
      summary.stream.path,
      `the stream begins ${gap} ns after ${reference.stream.path}; at most an hour may lie between them`,
      0,
    );
  }
}

/**
 * Checks a trace by the rules of the emulator that reads its version: ovniemu 1.14 for version 3, its
 * predecessor of 2022 for version 1. The emulator refuses the trace for an `error`. It accepts or
 * ignores a `warning`. For version 1, faults that only a reader of version 3 would refuse are warnings.
 *
 * Findings of one rule beyond `repeats` are counted, and one finding at the end says how many. Each
 * stream is read once, and a second time if threads used physical CPUs or ran tasks. Memory grows with
 * the number of tasks, and not with the length of the streams.
 *
 * Not checked:
 *
 * - in version 1 any event that is not ovni's;
 * - a `stream.json` with a hidden name or reached by a symbolic link, which the emulator reads.
 *
 * The emulator also accepts metadata numbers that are no integers, and comments in JSON; this check does
 * not. If one thread leaves a physical CPU and another enters it in the same nanosecond, the order of
 * both is undefined, in the emulator and here.
 *
 * @throws TracewrightError `ERR_SYSTEM` if files cannot be read.
 * @throws TraceFormatError if there is no trace at the path.
 */
export function* checkTrace(path: string, options: CheckOptions = {}): Generator<Finding, void> {
  options = ownOptions(options, ['onProgress', 'repeats']);
  const out = new FindingCollector(options.repeats);
  const trace = readTrace(path, (file, message, field) => {
    out.report(field === 'clock-offsets' ? 'clock-offsets' : 'metadata', file, message, 0);
  });
  out.version = trace.version;
  const definitions = checkMetadata(trace, out);
  yield* out.take();

  const { onProgress } = options;
  const sizes = trace.streams.map((stream) => statSync(stream.path).size);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let done = 0;
  const summaries: StreamSummary[] = [];
  for (const [at, stream] of trace.streams.entries()) {
    const offset = clockOffsetOf(trace, stream);
    summaries.push(
      checkStream(stream, offset, definitions, out, (bytes) => onProgress?.(done + bytes, total)),
    );
    done += sizes[at]!;
    onProgress?.(done, total);
    yield* out.take();
  }
  checkGap(summaries, out);
  if (summaries.some((summary) => summary.needsOrder)) {
    checkOrder(
      trace,
      out,
      onProgress &&
        ((bytes) => {
          onProgress(total + bytes, 2 * total);
        }),
    );
  }
  yield* out.take();
  yield* out.rest(trace.path);
}
