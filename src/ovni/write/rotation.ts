import { groupCounts } from '../../core/native-calls.js';
import { continueProcess } from './process.js';
import { currentProcess, latest } from './process-note.js';
import { StreamWriter } from './stream-writer.js';
import { thread } from './thread.js';

/**
 * How a process goes from one trace to the next without a pause. A thread leaves a trace only after
 * its stream in the next one has begun.
 *
 *     const move = moveProcess(directory, begin);   // the thread that decides
 *     const move = followProcess(begin);            // every other thread, later
 *     move?.complete();
 */

/** Writes the first events of a stream that has just been opened. */
type BeginStream = (stream: StreamWriter) => void;

/** A stream of the calling thread that has begun in the next trace. */
export class ThreadMove {
  readonly #next: StreamWriter;

  constructor(next: StreamWriter) {
    this.#next = next;
  }

  /**
   * Moves the calling thread to the next trace and completes its stream in the present one.
   *
   * @throws TracewrightError `ERR_SYSTEM` if that stream cannot be completed; the thread has moved.
   */
  complete(): void {
    const next = this.#next;
    thread.exchangeFiles(next);
    next.close(next.process && latest(next.process));
  }
}

/** Whether the process is between `procInit` and `procFini`. */
export function isRecording(): boolean {
  return currentProcess()?.finished === false;
}

/**
 * Moves the process to the trace directory `traceDir`, which exists, with a stream of the calling
 * thread.
 *
 * @throws TracewrightError if the trace or the stream cannot begin; the process then stays where it
 *   is. Also what `begin` throws.
 */
export function moveProcess(traceDir: string, begin: BeginStream): ThreadMove {
  let next: StreamWriter | undefined;
  continueProcess(traceDir, (process) => {
    next = beginNext(process, begin);
  });
  return new ThreadMove(next!);
}

/**
 * Begins the calling thread's stream in the trace to which the process has moved; undefined if the
 * thread is there already.
 *
 * @throws TracewrightError if the stream cannot begin. Also what `begin` throws.
 */
export function followProcess(begin: BeginStream): ThreadMove | undefined {
  const process = currentProcess();
  if (process === undefined || process.procDir === thread.process?.procDir) return undefined;
  return new ThreadMove(beginNext(process, begin));
}

function beginNext(process: Parameters<StreamWriter['open']>[0], begin: BeginStream): StreamWriter {
  const next = new StreamWriter();
  next.open(process, undefined, thread);
  try {
    begin(next);
  } catch (error) {
    next.close();
    throw error;
  }
  return next;
}

/** Bytes of events that all threads of the process have recorded, in all traces of the series. */
export function recordedBytes(): number {
  const { bytes, pendingBytes } = groupCounts(currentProcess()!.group);
  return bytes + pendingBytes;
}

/** Where files of the process lie while it runs. */
export function workDirectory(): string {
  return currentProcess()!.workDir;
}
