import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { clockNow, unixNow } from '../../core/clock.js';
import { forgetListEntries, putListEntry } from '../../core/files/shared-list-file.js';
import { getNote, putNote } from '../../core/process-notes.js';
import { limitGroup } from '../../core/ring/target-group.js';
import { checkOptionNames, integerIn } from '../../core/options/argument.js';
import { outOfRange, wrongOrder, wrongType } from '../../core/errors.js';
import { isDirectory } from '../../core/files/file-kind.js';
import { makeDirectories } from '../../core/files/make-directories.js';
import { checkRingOptions, RING_OPTIONS } from '../../core/options/ring-options.js';
import type { CheckedRingOptions, RingOptions } from '../../core/options/ring-options.js';
import { recoverPredecessor } from '../../core/recovery/predecessor.js';
import { wrapSystemError, hasCode } from '../../core/files/system-error.js';
import { watchTargets } from '../../core/ring/target-health.js';
import { wellFormedJson } from '../../core/json.js';
import { recoverTrace } from '../read/recover.js';

/** What `procInit` accepts beyond libovni's arguments. */
export interface ProcessOptions extends RingOptions {
  /**
   * Most bytes of events that the process writes: when they are reached, recording ends for good, the
   * streams are completed as usual, and further events are dropped and counted ({@link procStats}).
   * From 4 times `ringBytes`; default none. Metadata and rings come on top.
   */
  maxBytes?: number;
  /** Where the trace goes. Default: `OVNI_TRACEDIR`, else `ovni` in the working directory. */
  traceDir?: string;
  /** Trace version: 1 as in the specification (default), 3 as today's emulator reads it. */
  version?: 1 | 3;
}

const PROCESS_OPTIONS = {
  ...RING_OPTIONS,
  maxBytes: true,
  traceDir: true,
  version: true,
} as const;

/** Where `procInit` has put the process. */
export interface ProcessPlace {
  /**
   * The trace directory: the one that was asked for, or, where that already holds a process of this
   * loom and pid, the first of `<traceDir>.1`, `<traceDir>.2` … that does not.
   */
  traceDir: string;
  /** `<traceDir>/loom.<loom>/proc.<pid>`. */
  procDir: string;
}

/** One CPU of the loom. */
export interface CpuEntry {
  index: number;
  phyid: number;
}

/**
 * The process as all its threads see it. It is kept in the native core, for Node's threads share no
 * JavaScript.
 */
export interface OvniProcess extends ProcessPlace {
  /** Under which its streams are watched and counted as one. */
  group: string;
  app: number;
  loom: string;
  pid: number;
  version: 1 | 3;
  /** Where files are written while the process runs: `procDir`, or its place in `OVNI_TMPDIR`. */
  workDir: string;
  rank?: { rank: number; nranks: number };
  /** Version 1 keeps the CPUs in the metadata of the process. */
  cpus: CpuEntry[];
  /** Without `onFault`, which only the thread that called procInit knows. */
  ring: Omit<CheckedRingOptions, 'onFault'>;
  /**
   * What the clock's zero is in nanoseconds since the Unix epoch, in decimal: it lines the trace up
   * with those that count from there.
   */
  epoch: string;
  /** After `procFini`: threads may finish, new ones may not begin. */
  finished: boolean;
}

const NOTE = 'ovni.process';
let unwatch: (() => void) | undefined;
const MAX_I32 = 0x7fff_ffff;

/** The process of this trace, if `procInit` has been called on any thread. */
export function currentProcess(): OvniProcess | undefined {
  const note = getNote(NOTE);
  return note === '' ? undefined : (JSON.parse(note) as OvniProcess);
}

/** A process of version 1 as it was when it ended. */
function endedProcess(procDir: string): OvniProcess | undefined {
  const note = getNote(NOTE + procDir);
  return note === '' ? undefined : (JSON.parse(note) as OvniProcess);
}

/** Like {@link currentProcess}, but an error unless the process is ready. */
export function readyProcess(call: string): OvniProcess {
  const process = currentProcess();
  if (process === undefined) throw wrongOrder(call, 'procInit must be called first');
  if (process.finished) throw wrongOrder(call, 'the process has ended with procFini');
  return process;
}

function checkLoom(loom: unknown): string {
  const limit = "1 to 200 bytes of UTF-8 without '/' or NUL";
  if (typeof loom !== 'string') throw wrongType('loom', loom, limit);
  const bytes = Buffer.byteLength(loom);
  if (bytes === 0 || bytes > 200 || /[/\0\ud800-\udfff]/u.test(loom))
    throw outOfRange('loom', loom, limit);
  return loom;
}

/** Makes a directory, unless something of its name is there. */
function makeDirectory(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/**
 * Takes the directory of the process for this run. Creating it is the claim, so that two processes
 * never share one; a pid that comes back (pid 1 in every container) finds its old place taken, and
 * finishes what its predecessor left there. A link counts as taken, except in the path that was
 * asked for.
 */
function claimProcDir(
  traceDir: string,
  loom: string,
  pid: number,
  { ringDir }: Pick<CheckedRingOptions, 'ringDir'>,
): ProcessPlace {
  for (let run = 0; ; run++) {
    const numbered = run === 0 ? traceDir : `${traceDir}.${run}`;
    const loomDir = join(numbered, `loom.${loom}`);
    const procDir = join(loomDir, `proc.${pid}`);
    const isOurs = wrapSystemError('traceDir', traceDir, () => {
      makeDirectories(numbered);
      if (run > 0 && !isDirectory(numbered)) return false;
      makeDirectory(loomDir);
      return isDirectory(loomDir);
    });
    if (!isOurs) continue;
    if (wrapSystemError('traceDir', traceDir, () => makeDirectory(procDir)))
      return { traceDir: numbered, procDir };
    if (isDirectory(procDir))
      recoverPredecessor((options) =>
        recoverTrace(procDir, { ...options, ...(ringDir === undefined ? {} : { ringDir }) }),
      );
  }
}

/** The place of a process in a trace directory, and where it writes meanwhile. */
function claimPlace(
  traceDir: string,
  loom: string,
  pid: number,
  ring: Pick<CheckedRingOptions, 'ringDir'>,
): Pick<OvniProcess, 'traceDir' | 'procDir' | 'workDir'> {
  const place = claimProcDir(resolve(traceDir), loom, pid, ring);
  const temporary = process.env['OVNI_TMPDIR'];
  const workDir =
    temporary === undefined || temporary === ''
      ? place.procDir
      : claimProcDir(resolve(temporary), loom, pid, ring).procDir;
  return { ...place, workDir };
}

/** What the clock's zero is in nanoseconds since the Unix epoch. */
function epochNow(): string {
  return String(unixNow() - clockNow());
}

/**
 * Begins the trace of this process (libovni: `ovni_proc_init`). Once per process, on any thread;
 * each thread then calls `threadInit`.
 *
 * @param app application id, 1 to 2^31 - 1.
 * @param loom name of the loom, usually the host's, perhaps with a suffix: 1 to 200 bytes of UTF-8
 *   without `/`.
 * @param pid process id, 1 to 2^31 - 1; default `process.pid`.
 * @throws TracewrightError for an argument that is wrong, a directory that cannot be made, or a
 *   process that was initialised before.
 */
export function procInit(
  app: number,
  loom: string,
  pid: number = process.pid,
  options: ProcessOptions = {},
): ProcessPlace {
  return beginProcess(app, loom, pid, options);
}

/**
 * As `procInit`.
 *
 * @param group under which the process is watched and counted, where its trace is one of several;
 *   default: its directory.
 */
export function beginProcess(
  app: number,
  loom: string,
  pid: number,
  options: ProcessOptions,
  group?: string,
): ProcessPlace {
  const known = currentProcess();
  if (known !== undefined && !known.finished) {
    throw wrongOrder('procInit', 'the process is initialised already');
  }
  checkOptionNames<ProcessOptions>(options, PROCESS_OPTIONS);
  integerIn('app', app, 1, MAX_I32);
  checkLoom(loom);
  integerIn('pid', pid, 1, MAX_I32);
  const version: unknown = options.version ?? 1;
  if (version !== 1 && version !== 3) throw outOfRange('version', version, '1 or 3');
  const wanted: unknown = options.traceDir ?? process.env['OVNI_TRACEDIR'] ?? 'ovni';
  if (typeof wanted !== 'string' || wanted === '') {
    throw wrongType('traceDir', wanted, 'the path of a directory');
  }
  const ring = checkRingOptions(options, { onFull: 'block' });
  const maxBytes =
    options.maxBytes === undefined
      ? 0
      : integerIn('maxBytes', options.maxBytes, 4 * ring.ringBytes, Number.MAX_SAFE_INTEGER);

  const place = claimPlace(wanted, loom, pid, ring);
  const next: OvniProcess = {
    ...place,
    group: group ?? place.procDir,
    app,
    loom,
    pid,
    version,
    cpus: [],
    ring,
    epoch: epochNow(),
    finished: false,
  };
  putNote(NOTE, JSON.stringify(next));
  // Not before the next process: counts of threads that have ended are kept as long.
  unwatch?.();
  unwatch = watchTargets(next.group, ring.onFault);
  if (maxBytes > 0) limitGroup(next.group, maxBytes, 0);
  writeProcessMetadata(next);
  return { traceDir: place.traceDir, procDir: place.procDir };
}

/**
 * Goes on in another trace directory: threads that begin from now on have their streams there, and
 * the others may move. It is watched and counted as before. Should it not begin there it goes on
 * where it is, and the caller removes the directory.
 *
 * @param begin begins the first stream of the new trace.
 * @throws TracewrightError `ERR_ORDER` outside of `procInit` and `procFini`, `ERR_SYSTEM` when the
 *   directory or its metadata cannot be written; what `begin` throws.
 */
export function continueProcess(traceDir: string, begin: (next: OvniProcess) => void): void {
  const current = readyProcess('continueProcess');
  const next: OvniProcess = {
    ...current,
    ...claimPlace(traceDir, current.loom, current.pid, current.ring),
    epoch: epochNow(),
  };
  try {
    writeProcessMetadata(next);
    begin(next);
  } catch (error) {
    forgetListEntries(join(next.workDir, 'metadata.json'));
    if (next.workDir !== next.procDir) removeQuietly(next.workDir);
    throw error;
  }
  noteEnded(current);
  putNote(NOTE, JSON.stringify(next));
}

function removeQuietly(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    // What made the caller fail stands in the way here, too.
  }
}

/** For threads that end their streams when another process has begun; they may know less of it. */
function noteEnded(current: OvniProcess): void {
  if (current.version !== 1) return;
  putNote(NOTE + current.procDir, JSON.stringify({ ...current, finished: true }));
}

/**
 * States the MPI rank of the process (libovni: `ovni_proc_set_rank`). The last call wins; call it
 * before other threads end, for each writes it into its own metadata.
 *
 * @param rank 0 to nranks - 1.
 * @param nranks 1 to 2^31 - 1.
 * @throws TracewrightError for an argument that is wrong, `ERR_ORDER` outside of `procInit` and
 *   `procFini`.
 */
export function procSetRank(rank: number, nranks: number): void {
  const current = readyProcess('procSetRank');
  integerIn('nranks', nranks, 1, MAX_I32);
  integerIn('rank', rank, 0, MAX_I32);
  if (rank >= nranks) throw outOfRange('rank', rank, `below nranks, ${nranks}`);
  current.rank = { rank, nranks };
  putNote(NOTE, JSON.stringify(current));
  writeProcessMetadata(current);
}

/** Version 1: adds a CPU to the metadata of the process. */
export function addProcessCpu(current: OvniProcess, cpu: CpuEntry): void {
  current.cpus.push(cpu);
  putNote(NOTE, JSON.stringify(current));
  writeProcessMetadata(current);
}

/**
 * Whether this process is the one of its loom that names the CPUs: version 1 wants exactly one, so
 * the first that asks is elected.
 */
export function isElectedForCpus(current: OvniProcess): boolean {
  if (current.cpus.length > 0) return true;
  try {
    closeSync(openSync(join(dirname(current.procDir), '.cpus'), 'wx', 0o644));
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    return wrapSystemError('cpus', current.procDir, () => {
      throw error;
    });
  }
}

/**
 * Ends the trace of this process (libovni: `ovni_proc_fini`). Threads that are still at work may
 * go on and free themselves; no new one may begin.
 *
 * @throws TracewrightError `ERR_ORDER` of a process that has not begun, or has ended.
 */
export function procFini(): void {
  const current = readyProcess('procFini');
  current.finished = true;
  putNote(NOTE, JSON.stringify(current));
  noteEnded(current);
  writeProcessMetadata(current);
  if (current.version === 1) moveProcessMetadata(current);
  removeEmptyWorkDir(current);
}

/**
 * Version 1: writes `metadata.json` (specification version 1, "Process metadata"). What the version
 * cannot say stands under the key `tracewright`, where readers of the format do not look.
 *
 * @param thread the piece of one thread, to be kept with those of the others.
 */
export function writeProcessMetadata(
  current: OvniProcess,
  thread?: { tid: number; metadata: unknown },
): void {
  if (current.version !== 1) return;
  const known = currentProcess();
  // Other threads may have told more since the caller looked.
  if (known?.procDir === current.procDir) current = known;
  else current = endedProcess(current.procDir) ?? current;
  const own: Record<string, unknown> = { version: 1, app_id: current.app };
  if (current.cpus.length > 0) own['cpus'] = current.cpus;
  if (current.rank !== undefined) Object.assign(own, current.rank);
  const before = `${JSON.stringify(own).slice(0, -1)},"tracewright":{"epoch":"${current.epoch}","loom":${JSON.stringify(current.loom)},"pid":${current.pid},"threads":{`;
  const piece = thread === undefined ? '' : `"${thread.tid}":${wellFormedJson(thread.metadata)}`;
  const path = join(current.workDir, 'metadata.json');
  wrapSystemError('metadata.json', path, () => {
    putListEntry(path, String(thread?.tid ?? ''), piece, before, '}}}\n');
  });
}

interface Move {
  from: string;
  to: string;
}

/** Copies files under names that no reader looks for, and then gives all of them their own. */
function copyToTrace(moves: readonly Move[]): void {
  const copies = moves.map(({ from, to }) => {
    return { from, copy: join(dirname(to), `.${basename(to)}.new`), to };
  });
  try {
    for (const { from, copy } of copies) {
      rmSync(copy, { force: true });
      copyFileSync(from, copy, constants.COPYFILE_EXCL);
    }
    for (const { copy, to } of copies) renameSync(copy, to);
  } catch (error) {
    for (const { copy } of copies) rmSync(copy, { force: true });
    throw error;
  }
}

/**
 * Moves finished files from `OVNI_TMPDIR` to their place in the trace: all of them, or none.
 *
 * @param stay whether they are to be in both places.
 * @throws TracewrightError `ERR_SYSTEM` when the trace has no room, say.
 */
export function moveToTrace(current: OvniProcess, names: readonly string[], stay = false): void {
  const moves = names.map((name): Move => {
    return { from: join(current.workDir, name), to: join(current.procDir, name) };
  });
  wrapSystemError('OVNI_TMPDIR', current.workDir, () => {
    for (const { to } of moves) {
      makeDirectories(dirname(to));
      if (!isDirectory(dirname(to))) throw new Error(`${dirname(to)} is a link`);
    }
    if (stay) {
      copyToTrace(moves);
      return;
    }
    try {
      for (const { from, to } of moves) renameSync(from, to);
    } catch (error) {
      if (!hasCode(error, 'EXDEV')) throw error;
      copyToTrace(moves);
      for (const { from } of moves) rmSync(from);
    }
  });
}

/**
 * Version 1: brings the metadata of the process from `OVNI_TMPDIR` to the trace. Streams that are
 * still there keep a copy, without which nobody could read them.
 */
export function moveProcessMetadata(current: OvniProcess): void {
  const { workDir, procDir } = current;
  if (workDir === procDir || !existsSync(join(workDir, 'metadata.json'))) return;
  const stay = readdirSync(workDir).some((name) => /^thread\.\d+$/.test(name));
  moveToTrace(current, ['metadata.json'], stay);
}

/** Removes what `OVNI_TMPDIR` no longer needs of the process. */
export function removeEmptyWorkDir(current: OvniProcess): void {
  if (current.workDir === current.procDir) return;
  try {
    rmdirSync(current.workDir);
    rmdirSync(dirname(current.workDir));
  } catch {
    // Threads that are still at work, or other processes, have files there.
  }
}
