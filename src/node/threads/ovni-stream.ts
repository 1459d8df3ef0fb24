import { clockNow } from '../../core/clock.js';
import { groupCounts } from '../../core/native-calls.js';
import { putNote } from '../../core/process-notes.js';
import { holdingSignals } from '../../core/signals.js';
import { isMainThread, systemThreadId } from '../../core/system-thread.js';
import { RUN_FOLDER } from '../../ovni/file-names.js';
import { emitTo } from '../../ovni/write/emit.js';
import { hookStream } from '../../ovni/write/hook-stream.js';
import { procFini, procInit } from '../../ovni/write/process.js';
import { COUNTERS, VIRTUAL_CPU } from '../../ovni/requests-mark.js';
import { currentProcess, readyProcess } from '../../ovni/write/process-note.js';
import { emitThreadStart } from '../../ovni/write/thread-start.js';
import { addCpu, thread, threadFree } from '../../ovni/write/thread.js';
import { cpuCount } from '../machine.js';
import { noteOrClaim } from '../run/process-plan.js';
import type { OvniPlan, ProcessPlan } from '../run/process-plan.js';
import { enterFormat } from '../run/run.js';

/** The trace that the threads of a process have begun: the hook's, or one of the program's own. */
const NOTE = 'node.ovni';
const OWN = 'begun';
const OF_PROGRAM = 'of the program';

/**
 * Begins the stream of the calling thread, and before the first one the trace of the process.
 *
 * @returns false: the program has a trace of its own, or has ended that of the hook.
 */
export function beginStream(plan: ProcessPlan, ovni: OvniPlan): boolean {
  const note = noteOrClaim(NOTE);
  if (note === undefined) {
    let state = '';
    try {
      if (currentProcess() === undefined) beginFirst(plan, ovni);
      state = hookStream.begun === undefined ? OF_PROGRAM : OWN;
    } finally {
      // After a failure empty, so that the next call tries again.
      putNote(NOTE, state);
    }
  } else if (note === OWN && currentProcess()?.finished === false && thread.process === undefined) {
    beginThread([], plan.firstClock, clockNow(), plan.firstTid);
  }
  return hookStream.begun !== undefined;
}

function beginFirst(plan: ProcessPlan, ovni: OvniPlan): void {
  const { app, loom, version, maxBytes } = ovni;
  const traceDir = enterFormat(ovni, RUN_FOLDER);
  const limit = maxBytes > 0 ? { maxBytes } : {};
  procInit(app, loom, process.pid, { traceDir, version, ...limit });
  const cpus = Array.from({ length: cpuCount() }, (_, index) => ({ index, phyid: index }));
  const { firstClock, firstTid } = plan;
  // The run has begun with its first thread.
  const isLead = ovni.topmost && systemThreadId() === firstTid;
  beginThread(cpus, isLead ? undefined : firstClock, isLead ? firstClock : clockNow(), firstTid);
}

/**
 * Begins the stream of the calling thread: with an event at `lead`, if the run began earlier, then the beginning of
 * the thread. Times are nanoseconds.
 */
function beginThread(
  cpusOfLoom: readonly { index: number; phyid: number }[],
  lead: bigint | undefined,
  clock: bigint,
  creatorTid: number,
): void {
  holdingSignals(() => {
    openStream(cpusOfLoom);
    emitThreadStart(thread, { lead, clock, cpu: VIRTUAL_CPU, creatorTid });
  });
  hookStream.begun = { pause, resume, complete };
}

function pause(): boolean {
  if (thread.state !== 'running') return false;
  emitTo(thread, 'OHp', undefined, undefined);
  return true;
}

function resume(): void {
  emitTo(thread, 'OHr', undefined, undefined);
}

/**
 * Writes what only JavaScript knows. The stream itself is ended by the native core after the last listener, so that a
 * program which records something at its own exit finds it open. Only files in `OVNI_TMPDIR` have to be moved from
 * here.
 */
function complete(): void {
  if (thread.process === undefined) return;
  thread.metadata.writeDue();
  const { workDir, procDir } = readyProcess('exit');
  if (workDir === procDir) return;
  threadFree();
  if (isMainThread) procFini();
}

/** The attribute `node` in the metadata of a stream. */
function threadName(): string {
  if (isMainThread) return 'main';
  return `worker ${process.getBuiltinModule('node:worker_threads').threadId}`;
}

/** Opens the stream of the calling thread. Its metadata is complete before, so it is written once. */
function openStream(cpusOfLoom: readonly { index: number; phyid: number }[]): void {
  const current = readyProcess('threadInit');
  thread.metadata.attributes['node'] = {
    thread: threadName(),
    version: process.version,
    counters: COUNTERS,
  };
  const inStream = current.version === 3;
  if (inStream) thread.metadata.cpus = [...cpusOfLoom];
  thread.open(current, undefined, true);
  if (inStream) return;
  for (const { index, phyid } of cpusOfLoom) addCpu(index, phyid);
}

/** Bytes of events of all threads of the process. */
export function recordedBytes(): number {
  const { bytes, pendingBytes, droppedRecords } = groupCounts(readyProcess('exit').group);
  return bytes + pendingBytes + droppedRecords;
}

/** Ends the trace of the process. @returns the directory of the process in there. */
export function endTrace(): string {
  const { procDir } = readyProcess('exit');
  threadFree();
  procFini();
  return procDir;
}
