import { readClock } from '../../core/clock.js';
import { shared } from '../../core/process-state.js';
import { integerIn } from '../../core/options/argument.js';
import { outOfRange, wrongOrder, wrongType } from '../../core/errors.js';
import { addProcessCpu, isElectedForCpus } from './process-metadata.js';
import { latest, readyProcess } from './process-note.js';
import { StreamWriter } from './stream-writer.js';

/** The stream of the calling thread, for all copies of the package there. */
export const thread = shared('ovni.thread', () => new StreamWriter());

const MAX_I32 = 0x7fff_ffff;

/** Whether the end of the thread is observed: once, however many streams it begins. */
const atExit = shared('ovni.exit', () => ({ isObserved: false }));

function observeExit(): void {
  if (atExit.isObserved) return;
  atExit.isObserved = true;
  process.on('exit', () => {
    thread.writeEnd();
  });
}

/**
 * Begins the stream of the calling thread (libovni: `ovni_thread_init`).
 *
 * @param tid thread id, 1 to 2^31 - 1, unique in the process. Default: the system's number of the
 *   thread, or that plus a multiple of 2^22 if an earlier thread of the process had the same.
 * @throws TracewrightError before `procInit`, after `procFini`, on a thread that has a stream.
 */
export function threadInit(tid?: number): void {
  const current = readyProcess('threadInit');
  if (thread.process !== undefined) {
    throw wrongOrder('threadInit', 'this thread has a stream; call threadFree first');
  }
  if (tid !== undefined) integerIn('tid', tid, 1, MAX_I32);
  thread.open(current, tid);
  observeExit();
}

/** Whether the calling thread has a stream (libovni: `ovni_thread_isready`). Under the register hook it begins here. */
export function threadIsReady(): boolean {
  thread.begin();
  return thread.process !== undefined;
}

/**
 * The stream of the calling thread.
 *
 * @param call the caller, for the error `ERR_ORDER` before `threadInit`.
 */
export function readyThread(call: string): StreamWriter {
  thread.begin();
  if (thread.process === undefined) throw wrongOrder(call, 'threadInit must be called first');
  return thread;
}

/**
 * Declares that the stream has events of a model (libovni: `ovni_thread_require`). The model `ovni`
 * is always required. A second call for a model replaces the first.
 *
 * @param model name of the model, 2 to 114 characters without blank or dot: `nosv`.
 * @param version the version that the events follow, `x.y.z`, such as `models.nosv.version`. The
 *   emulator requires its own first number, and a second number not above its own.
 * @throws TracewrightError for a wrong argument, `ERR_ORDER` outside of `threadInit` and
 *   `threadFree`, `ERR_SYSTEM` when the metadata cannot be written.
 */
export function threadRequire(model: string, version: string): void {
  const limit = '2 to 114 characters without a blank, a dot or NUL';
  if (typeof model !== 'string') throw wrongType('model', model, limit);
  if (!/^[^\s.\0\ud800-\udfff]{2,114}$/u.test(model)) throw outOfRange('model', model, limit);
  if (typeof version !== 'string') throw wrongType('version', version, 'x.y.z');
  if (!/^\d{1,9}\.\d{1,9}\.\d{1,9}$/.test(version)) throw outOfRange('version', version, 'x.y.z');
  const stream = readyThread('threadRequire');
  stream.metadata.required.set(model, version);
  stream.metadata.write();
}

/**
 * Adds a CPU to the loom (libovni: `ovni_add_cpu`). The loom's CPUs together have the indexes 0 to
 * N - 1. In version 1 the first process of a loom that adds a CPU names them; CPUs of the other
 * processes are ignored.
 *
 * @param index logical number of the CPU, 0 to 2^31 - 1.
 * @param phyid number that the operating system gives it, 0 to 2^31 - 1.
 * @throws TracewrightError for a wrong argument, and for one of another CPU, `ERR_ORDER`
 *   outside of `threadInit` and `threadFree`, `ERR_SYSTEM` when the metadata cannot be written.
 */
export function addCpu(index: number, phyid: number): void {
  integerIn('index', index, 0, MAX_I32);
  integerIn('phyid', phyid, 0, MAX_I32);
  const current = readyProcess('addCpu');
  const stream = readyThread('addCpu');
  const known = current.version === 1 ? current.cpus : stream.metadata.cpus;
  for (const cpu of known) {
    if (cpu.index === index && cpu.phyid === phyid) return;
    if (cpu.index === index) throw outOfRange('index', index, 'an index of one CPU only');
    if (cpu.phyid === phyid) throw outOfRange('phyid', phyid, 'the number of one CPU only');
  }
  if (current.version === 1) {
    if (isElectedForCpus(current)) addProcessCpu(current, { index, phyid });
  } else {
    stream.metadata.cpus.push({ index, phyid });
    stream.metadata.write();
  }
}

/**
 * Ends the stream of the calling thread (libovni: `ovni_thread_free`): writes the ring's events and
 * marks the stream as complete. A thread that has begun (`OHx`) and not ended gets its `OHe`.
 *
 * @throws TracewrightError `ERR_ORDER` for a thread without a stream.
 */
export function threadFree(): void {
  const stream = readyThread('threadFree');
  stream.close(stream.process && latest(stream.process));
}

/** Nanoseconds of CLOCK_MONOTONIC, from the clock that stamps the events (libovni: `ovni_clock_now`). */
export function clockNow(): bigint {
  return readClock(thread.process?.ring.clock ?? 'scaled');
}

/**
 * Writes the ring's events on this thread, and records the time as `OF[` and `OF]` (libovni:
 * `ovni_flush`). Programs need not call it: the drain thread writes the ring, and it survives a kill.
 *
 * @returns false if the file could not be written completely; the drain thread tries again.
 * @throws TracewrightError `ERR_ORDER` outside of `threadInit` and `threadFree`.
 */
export function flush(): boolean {
  return readyThread('flush').flush();
}
