import { readClocks } from '../../core/clock.js';
import { limitGroup } from '../../core/native-calls.js';
import { outOfRange, wrongOrder, wrongType } from '../../core/errors.js';
import { integerIn, ownOptions } from '../../core/options/argument.js';
import { checkRingOptions, RING_OPTIONS } from '../../core/options/ring-options.js';
import type { RingOptions } from '../../core/options/ring-options.js';
import { watchTargets } from '../../core/ring/target-health.js';
import { shared } from '../../core/process-state.js';
import { writeProcessMetadata } from './process-metadata.js';
import { currentProcess, noteEnded, noteProcess, readyProcess } from './process-note.js';
import type { OvniProcess } from './process-note.js';
import { claimDirectory, moveProcessMetadata, removeEmptyWorkDir } from './process-directory.js';
import type { ProcessDirectory } from './process-directory.js';
import { moveFinishedStreams } from './stream-directory.js';
import { thread } from './thread.js';

/** Options of `procInit`, beyond libovni's arguments. */
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

/** Ends the watch of the process, if this thread has begun it. */
const watch = shared('ovni.watch', (): { end?: () => void } => ({}));
const MAX_I32 = 0x7fff_ffff;

function checkLoom(loom: unknown): string {
  const limit = "1 to 200 bytes of UTF-8 without '/' or NUL";
  if (typeof loom !== 'string') throw wrongType('loom', loom, limit);
  const bytes = Buffer.byteLength(loom);
  if (bytes === 0 || bytes > 200 || /[/\0\ud800-\udfff]/u.test(loom))
    throw outOfRange('loom', loom, limit);
  return loom;
}

/** The clock's zero in nanoseconds since 1970, as text. */
function epochNow(): string {
  const { real, stamp } = readClocks('scaled');
  return String(real - stamp);
}

/**
 * Begins the trace of this process (libovni: `ovni_proc_init`). Once per process, on any thread;
 * each thread then calls `threadInit`.
 *
 * @param app application id, 1 to 2^31 - 1.
 * @param loom name of the loom, usually the host's, perhaps with a suffix: 1 to 200 bytes of UTF-8
 *   without `/`.
 * @param pid process id, 1 to 2^31 - 1; default `process.pid`.
 * @throws TracewrightError for a wrong argument, a directory that cannot be made, or a
 *   process that was initialised before.
 */
export function procInit(
  app: number,
  loom: string,
  pid: number = process.pid,
  options: ProcessOptions = {},
): ProcessDirectory {
  const known = currentProcess();
  if (known !== undefined && !known.finished) {
    throw wrongOrder('procInit', 'the process has a trace; call procFini first');
  }
  options = ownOptions(options, [...RING_OPTIONS, 'maxBytes', 'traceDir', 'version']);
  integerIn('app', app, 1, MAX_I32);
  checkLoom(loom);
  integerIn('pid', pid, 1, MAX_I32);
  const version: unknown = options.version ?? 1;
  if (version !== 1 && version !== 3) throw outOfRange('version', version, '1 or 3');
  const wanted: unknown = options.traceDir ?? (process.env['OVNI_TRACEDIR'] || 'ovni');
  if (typeof wanted !== 'string' || wanted === '') {
    throw wrongType('traceDir', wanted, 'the path of a directory');
  }
  const ring = checkRingOptions(options, { onFull: 'block' });
  const maxBytes =
    options.maxBytes === undefined
      ? 0
      : integerIn('maxBytes', options.maxBytes, 4 * ring.ringBytes, Number.MAX_SAFE_INTEGER);

  const claimed = claimDirectory(wanted, loom, pid, ring);
  const next: OvniProcess = {
    ...claimed,
    group: claimed.procDir,
    app,
    loom,
    pid,
    version,
    cpus: [],
    ring,
    epoch: epochNow(),
    finished: false,
  };
  noteProcess(next);
  // Only now: it ends the counts of the process before.
  watch.end?.();
  watch.end = watchTargets(next.group, ring.onFault);
  if (maxBytes > 0) limitGroup(next.group, maxBytes, 0);
  writeProcessMetadata(next);
  return { traceDir: claimed.traceDir, procDir: claimed.procDir };
}

/**
 * States the MPI rank of the process (libovni: `ovni_proc_set_rank`). The last call wins; call it
 * before other threads end, because each writes it into its own metadata.
 *
 * @param rank 0 to nranks - 1.
 * @param nranks 1 to 2^31 - 1.
 * @throws TracewrightError for a wrong argument, `ERR_ORDER` outside of `procInit` and
 *   `procFini`.
 */
export function procSetRank(rank: number, nranks: number): void {
  thread.begin();
  const current = readyProcess('procSetRank');
  integerIn('nranks', nranks, 1, MAX_I32);
  integerIn('rank', rank, 0, MAX_I32);
  if (rank >= nranks) throw outOfRange('rank', rank, `below nranks, ${nranks}`);
  current.rank = { rank, nranks };
  noteProcess(current);
  writeProcessMetadata(current);
}

/**
 * Ends the trace of this process (libovni: `ovni_proc_fini`). Threads that have a stream may continue
 * and free themselves; no new one may begin.
 *
 * @throws TracewrightError `ERR_ORDER` of a process that has not begun, or has ended.
 */
export function procFini(): void {
  const current = readyProcess('procFini');
  current.finished = true;
  noteProcess(current);
  noteEnded(current);
  writeProcessMetadata(current);
  moveFinishedStreams(current);
  if (current.version === 1) moveProcessMetadata(current);
  removeEmptyWorkDir(current);
}
