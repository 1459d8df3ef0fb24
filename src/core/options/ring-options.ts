import { isAbsolute, resolve } from 'node:path';
import { integerIn, ownOptions } from './argument.js';
import { claimNote, getNote, putNote } from '../process-notes.js';
import { LARGEST_RING } from '../settings/table.js';
import { valueOf } from '../settings/value-of.js';
import { checkFaultHandler } from '../ring/target-health.js';
import type { FaultHandler } from '../ring/target-health.js';
import type { NativeRingOptions } from '../native-ring.js';

/** How the queue between a thread and its trace behaves. */
export interface RingOptions {
  /**
   * Size of each ring in bytes, rounded up to a power of two; 64 KiB to 512 MiB. Default 2 MiB, or
   * `TRACEWRIGHT_RING_BYTES`.
   */
  ringBytes?: number;
  /**
   * Directory for the rings' files, such as `/dev/shm`; a relative path is that of the moment at which
   * it is first used. Default: next to the trace, or
   * `TRACEWRIGHT_RING_DIR`.
   */
  ringDir?: string;
  /**
   * What an event does that finds the ring full: `block` writes the ring out first (files) or waits
   * up to `blockLimitMs` for the network; `drop` counts the event and leaves it out. Default `block`
   * for files and `drop` for sockets, or `TRACEWRIGHT_ON_FULL`.
   */
  onFull?: 'block' | 'drop';
  /** Longest wait for a socket under `block`, in milliseconds, 0 to 60,000. Default 1,000. */
  blockLimitMs?: number;
  /**
   * `scaled` reads the CPU's counter where the kernel itself keeps time by it, and the kernel's
   * clock elsewhere; `monotonic` always asks the kernel. Both are nanoseconds of CLOCK_MONOTONIC.
   * Default `scaled`, or `TRACEWRIGHT_CLOCK`.
   */
  clock?: 'scaled' | 'monotonic';
  /**
   * Called when the target begins to fail (a full disk, a collector that is not there) and when it
   * works again. Default: one process warning each, with the codes `TRACEWRIGHT_TARGET_FAILS` and
   * `TRACEWRIGHT_TARGET_WORKS`.
   */
  onFault?: FaultHandler;
  /**
   * Who may read the files of the trace: 0o600 (default), 0o640, 0o644, 0o660 or 0o664, less the umask,
   * or `TRACEWRIGHT_FILE_MODE` in octal digits. Directories that the trace makes allow the same users to
   * enter. Rings are 0600 always.
   */
  fileMode?: number;
}

/** Ring options with every default filled in. */
export interface CheckedRingOptions {
  ringBytes: number;
  ringDir: string | undefined;
  onFull: 'block' | 'drop';
  blockLimitMs: number;
  clock: 'scaled' | 'monotonic';
  onFault: FaultHandler | undefined;
  fileMode: number;
}

/** The names of {@link RingOptions}. */
export const RING_OPTIONS = [
  'ringBytes',
  'ringDir',
  'onFull',
  'blockLimitMs',
  'clock',
  'onFault',
  'fileMode',
] as const;

const DEFAULT_RING = 2 * 1024 * 1024;

/**
 * Where rings lie that are not next to their traces, as an absolute path: what is opened goes by it
 * to its end, whatever becomes of the working directory. A variable means the same to all threads:
 * what it did to the first that asked.
 */
export function checkRingDir(option?: string): string | undefined {
  const directory = valueOf('RING_DIR', option);
  if (directory === undefined) return undefined;
  if (directory === option || isAbsolute(directory)) return resolve(directory);
  const note = `ring directory ${directory}`;
  if (claimNote(note)) putNote(note, resolve(directory));
  return getNote(note);
}

/**
 * Fills in environment variables and defaults and checks the result.
 *
 * @param defaults.leastBytes the default size of the ring is no smaller.
 * @throws TracewrightError that names the option, or the variable, and its limit.
 */
export function checkRingOptions(
  options: RingOptions,
  { onFull, leastBytes = 0 }: { onFull: 'block' | 'drop'; leastBytes?: number },
): CheckedRingOptions {
  options = ownOptions(options);
  const ringBytes =
    valueOf('RING_BYTES', options.ringBytes) ??
    Math.min(Math.max(DEFAULT_RING, leastBytes), LARGEST_RING);
  return {
    ringBytes: 2 ** Math.ceil(Math.log2(ringBytes)),
    ringDir: checkRingDir(options.ringDir),
    onFull: valueOf('ON_FULL', options.onFull) ?? onFull,
    blockLimitMs: integerIn('blockLimitMs', options.blockLimitMs ?? 1000, 0, 60_000),
    clock: valueOf('CLOCK', options.clock),
    onFault: checkFaultHandler(options.onFault),
    fileMode: valueOf('FILE_MODE', options.fileMode),
  };
}

/** The settings that every ring takes as they are; `fileMode` is not one: the ring of a socket has no file. */
export function ringSettings(
  settings: Pick<CheckedRingOptions, 'ringBytes' | 'clock' | 'onFull' | 'blockLimitMs'>,
): Pick<NativeRingOptions, 'capacity' | 'kernelClock' | 'full' | 'blockLimitMs'> {
  const { ringBytes, clock, onFull, blockLimitMs } = settings;
  return { capacity: ringBytes, kernelClock: clock === 'monotonic', full: onFull, blockLimitMs };
}
