import { parseOwnJson, withChanges } from '../../core/json.js';
import { getNote, putNote } from '../../core/process-notes.js';
import { wrongOrder } from '../../core/errors.js';
import { recordsNothing } from '../../core/off.js';
import { checkRingOptions } from '../../core/options/ring-options.js';
import type { CheckedRingOptions } from '../../core/options/ring-options.js';
import type { WorkDirectory } from './process-directory.js';

/** One CPU of the loom. */
export interface CpuEntry {
  index: number;
  phyid: number;
}

/**
 * The process as all its threads see it. The native core keeps it, because Node's threads share no
 * JavaScript.
 */
export interface OvniProcess extends WorkDirectory {
  /** Name under which the core watches and counts the streams of the process together. */
  group: string;
  app: number;
  loom: string;
  pid: number;
  version: 1 | 3;
  rank?: { rank: number; nranks: number };
  /** Version 1 keeps the CPUs in the metadata of the process. */
  cpus: CpuEntry[];
  /** Without `onFault`, which only the thread that called procInit knows. */
  ring: Omit<CheckedRingOptions, 'onFault'>;
  /**
   * Nanoseconds from the Unix epoch to the clock's zero, in decimal. It aligns the trace with traces
   * whose clocks count from the Unix epoch.
   */
  epoch: string;
  /** After `procFini`: threads may finish, new ones may not begin. */
  finished: boolean;
}

const NOTE = 'ovni.process';

/** The process of this trace, if `procInit` has been called on any thread. */
export function currentProcess(): OvniProcess | undefined {
  const note = getNote(NOTE);
  return note === '' ? undefined : (parseOwnJson(note) as OvniProcess);
}

/** A process of version 1 as it was when it ended or moved to another directory. */
export function endedProcess(procDir: string): OvniProcess | undefined {
  const note = getNote(NOTE + procDir);
  return note === '' ? undefined : (parseOwnJson(note) as OvniProcess);
}

/** Without a native core threads share no notes, so another thread may have called procInit. */
function unrecordedProcess(): OvniProcess {
  const process: OvniProcess = {
    traceDir: 'ovni',
    procDir: 'ovni',
    workDir: 'ovni',
    group: 'ovni',
    app: 1,
    loom: 'off',
    pid: 1,
    version: 1,
    cpus: [],
    ring: checkRingOptions({}, { onFull: 'block' }),
    epoch: '0',
    finished: false,
  };
  noteProcess(process);
  return process;
}

/**
 * The process of this trace.
 *
 * @throws TracewrightError `ERR_ORDER` outside of `procInit` and `procFini`.
 */
export function readyProcess(call: string): OvniProcess {
  const process = currentProcess();
  if (process === undefined && recordsNothing()) return unrecordedProcess();
  if (process === undefined) throw wrongOrder(call, 'procInit must be called first');
  if (process.finished) throw wrongOrder(call, 'the process has ended with procFini');
  return process;
}

/** Keeps what all threads see of the process. */
export function noteProcess(process: OvniProcess): void {
  putNote(NOTE, JSON.stringify(process));
}

/** The process as it is known now; one that another has followed has ended. */
export function latest(process: OvniProcess): OvniProcess {
  const current = currentProcess();
  return current?.procDir === process.procDir ? current : withChanges(process, { finished: true });
}

/** Keeps an ended process for threads whose streams end later; they may know an older state of it. */
export function noteEnded(current: OvniProcess): void {
  if (current.version !== 1) return;
  putNote(NOTE + current.procDir, JSON.stringify(withChanges(current, { finished: true })));
}
