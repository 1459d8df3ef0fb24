import { clockNow } from '../../core/clock.js';
import { holdingSignals } from '../../core/signals.js';
import { isMainThread } from '../../core/system-thread.js';
import { beginProcess } from '../../ovni/write/process.js';
import type { StreamWriter } from '../../ovni/write/stream-writer.js';
import { emitThreadStart } from '../../ovni/write/thread-start.js';
import { readyProcess } from '../../ovni/write/process-note.js';
import { addCpu, thread } from '../../ovni/write/thread.js';
import { cpuCount } from '../machine.js';
import type { Settings } from '../settings.js';

/** Node's threads are not pinned: they run on the loom's virtual CPU, which any number may share. */
const VIRTUAL_CPU = -1;
/** Mark type of the requests that a thread is serving. */
export const IN_FLIGHT = 0;

/** What a stream says about itself in its metadata, as the attribute `node`. */
export function threadName(): string {
  if (isMainThread) return 'main';
  return `worker ${process.getBuiltinModule('node:worker_threads').threadId}`;
}

/**
 * Begins the ovni trace of this process.
 *
 * @param maxBytes bytes after which recording stops; 0: none.
 * @param group see `beginProcess` of ovni.
 */
export function beginTrace(
  settings: Pick<Settings, 'app' | 'loom' | 'ovniVersion'>,
  traceDir: string,
  maxBytes: number,
  group?: string,
): void {
  const options = {
    traceDir,
    version: settings.ovniVersion,
    ...(maxBytes > 0 ? { maxBytes } : {}),
  };
  beginProcess(settings.app, settings.loom, process.pid, options, group);
}

/**
 * The first events of a stream: one at `lead`, where the stream begins later than the run, then the
 * beginning of the thread.
 *
 * @param lead nanoseconds; undefined for the stream that begins the run.
 * @param begun nanoseconds, not before `lead`.
 */
export function beginStream(
  stream: StreamWriter,
  lead: bigint | undefined,
  begun: bigint,
  creatorTid: number,
): void {
  emitThreadStart(stream, { lead, clock: begun, cpu: VIRTUAL_CPU, creatorTid });
}

/** Begins the stream of the first thread of the process, which also names the CPUs. */
export function beginFirstThread(firstClock: bigint, topmost: boolean): void {
  holdingSignals(() => {
    openStream(Array.from({ length: cpuCount() }, (_, index) => ({ index, phyid: index })));
    beginStream(
      thread,
      topmost ? undefined : firstClock,
      topmost ? firstClock : clockNow(),
      thread.tid,
    );
  });
}

/** Begins the stream of a further thread. */
export function beginThread(firstClock: bigint, creatorTid: number): void {
  holdingSignals(() => {
    openStream([]);
    beginStream(thread, firstClock, clockNow(), creatorTid);
  });
}

/** Opens the stream of the calling thread. Its metadata is complete before, so it is written once. */
function openStream(cpusOfLoom: readonly { index: number; phyid: number }[]): void {
  const current = readyProcess('threadInit');
  // A mark is never 0, so a count of requests is one more: viewers subtract what is given here.
  const counters = { [IN_FLIGHT]: 1 };
  thread.metadata.attributes['node'] = {
    thread: threadName(),
    version: process.version,
    counters,
  };
  const inStream = current.version === 3;
  if (inStream) thread.metadata.cpus = [...cpusOfLoom];
  thread.open(current, undefined, thread);
  if (inStream) return;
  for (const { index, phyid } of cpusOfLoom) addCpu(index, phyid);
}
