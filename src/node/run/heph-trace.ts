import { dirname } from 'node:path';
import { TracewrightError } from '../../core/errors.js';
import { makeDirectories, whileDeleted } from '../../core/files/make-directories.js';
import { directoryMode } from '../../core/options/file-mode.js';
import { valueOf } from '../../core/settings/value-of.js';
import type { SizeOptions } from '../../core/options/size-limits.js';
import { putNote } from '../../core/process-notes.js';
import { keepTargetOpen } from '../../core/ring/shared-target.js';
import { shared } from '../../core/process-state.js';
import { holdingSignals } from '../../core/signals.js';
import { isMainThread } from '../../core/system-thread.js';
import { EXTENSION, fileOfProcess } from '../../heph/file-names.js';
import { checkTarget } from '../../heph/target.js';
import type { Stream } from '../../heph/write/stream.js';
import { openTraceOfOpenEvents } from '../../heph/write/trace.js';
import type { Trace } from '../../heph/write/trace.js';
import { waitingBytes } from '../../spans/keep-setting.js';
import { noteOrClaim } from './process-plan.js';
import type { HephPlan } from './process-plan.js';

/** The Heph trace of the process as this thread has it open, for all copies of the package there. */
const opened = shared('node.heph', (): { trace?: Trace } => ({}));

/** `name.heph`, then `name-<pid>.heph`, `name-<pid>-2.heph` …: opens the first that is not there. */
function openFree(path: string, sharedName: boolean, sizes: SizeOptions): string {
  for (let attempt = sharedName ? 1 : 0; ; attempt++) {
    const target = attempt === 0 ? path : fileOfProcess(path, process.pid, attempt);
    try {
      opened.trace = whileDeleted(() => {
        makeDirectories(dirname(path), directoryMode(valueOf('FILE_MODE')));
        return holdingSignals(() => openTraceOfOpenEvents(target, sizes, {}, waitingBytes()));
      });
      // A worker that is the first to record a span may be gone before the others.
      keepTargetOpen(checkTarget(target).key);
      return target;
    } catch (error) {
      if (!(error instanceof TracewrightError) || error.code !== 'ERR_TRACE_EXISTS') throw error;
    }
  }
}

/**
 * Opens the target that `TRACEWRIGHT_HEPH_TARGET` names.
 *
 * @param sharedName whether another process of the run may use the name of the file.
 * @returns the target, of a file under the name that was free.
 */
export function openNamedTarget(
  wanted: string,
  sharedName: boolean,
  sizes: () => SizeOptions,
): string {
  const { kind, path } = checkTarget(wanted);
  // Every process of the run needs a file of its own.
  if (kind === 'file') return openFree(path, sharedName, sizes());
  opened.trace = openTraceOfOpenEvents(wanted, {}, {}, waitingBytes());
  return wanted;
}

const NOTE = 'node.heph-target';

/** The target of the process; the first thread that asks opens it. */
function targetOf(plan: HephPlan): string {
  if ('target' in plan) return plan.target;
  const known = noteOrClaim(NOTE);
  if (known !== undefined) return known;
  let target = '';
  try {
    target = openFree(`${plan.path}${EXTENSION}`, true, plan.sizes);
  } finally {
    // After a failure empty, so that the next span tries again.
    putNote(NOTE, target);
  }
  return target;
}

/** The Heph trace of the process, as this thread has it open. */
function hephTrace(plan: HephPlan): Trace {
  const target = targetOf(plan);
  opened.trace ??= holdingSignals(() => openTraceOfOpenEvents(target, {}, {}, waitingBytes()));
  return opened.trace;
}

let ofThread: Stream | undefined;

/**
 * The Heph stream of the calling thread: 0 for the main thread, Node's own number for every worker, as its ovni stream
 * has it. It is opened with the first span, so that a thread that serves nothing costs nothing.
 */
export function streamOfThread(plan: HephPlan): Stream {
  if (ofThread === undefined) {
    const trace = hephTrace(plan);
    const number = isMainThread ? 0 : process.getBuiltinModule('node:worker_threads').threadId;
    ofThread = trace.streamOfOpenEvents(number);
  }
  return ofThread;
}
