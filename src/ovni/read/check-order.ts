import type { Progress } from '../../core/finding.js';
import { CpuCheck } from './check-cpus.js';
import { TaskCheck } from './check-tasks.js';
import type { FindingCollector } from './finding-collector.js';
import { mergeStreams } from './merge-streams.js';
import type { TraceDirectory } from './trace-directory.js';

/** Checks what depends on the order of events of different threads: their CPUs and their tasks. */
export function checkOrder(
  trace: TraceDirectory,
  out: FindingCollector,
  onProgress: Progress | undefined,
): void {
  const cpus = new CpuCheck(trace, out);
  // The emulator of version 1 has other declarations of these events.
  const tasks = trace.version === 3 ? new TaskCheck(out) : undefined;
  const options = { onFault: () => undefined, ...(onProgress && { onProgress }) };
  for (const { stream, event } of mergeStreams(trace, trace.streams, options)) {
    cpus.event(stream, event);
    tasks?.event(stream, event);
  }
}
