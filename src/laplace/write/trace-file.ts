import { existsSync, rmSync } from 'node:fs';
import { recordsNothing } from '../../core/off.js';
import { ringTag } from '../../core/ring/ring-tag.js';
import type { RingSetup } from '../../core/ring/ring.js';
import { checkPath, integerIn, oneOf, ownOptions } from '../../core/options/argument.js';
import { TraceFormatError, TracewrightError } from '../../core/errors.js';
import { isRegularFile, kindOf } from '../../core/files/file-kind.js';
import { RingFile } from '../../core/recovery/ring-file.js';
import type { UnreadyRing } from '../../core/recovery/ring-file.js';
import type { Candidate } from '../../core/recovery/recover-rings.js';
import { isDoubt } from '../../core/recovery/recovery-errors.js';
import { Ring } from '../../core/ring/ring.js';
import { checkRingOptions, RING_OPTIONS, ringSettings } from '../../core/options/ring-options.js';
import type { RingOptions } from '../../core/options/ring-options.js';
import { hasCode, wrapSystemError } from '../../core/files/system-error.js';
import { pathTaken, REPLACE_ADVICE } from '../../core/files/path-taken.js';
import { ringCandidates, ringIn, ringOf } from '../file-names.js';
import type { RingFormat } from '../file-names.js';
import { RECORD_BYTES } from '../layout.js';
import { OPENING_WAIT_MS, warnOfDamage, warnOfIgnored } from '../../core/recovery/predecessor.js';

/** Longest wait of a full ring that feeds a pipe, in milliseconds: a blocking write has no limit either. */
const NO_LIMIT_MS = 2 ** 32 - 1;
const LARGEST_DESCRIPTOR = 2 ** 31 - 1;

/** Where a trace goes: a file, or an open descriptor. */
export type TraceTarget = string | { fd: number };

/** Options for opening either kind of trace. */
export interface TraceFileOptions extends RingOptions {
  /** If the file exists: throw an error (`error`, default), or replace a regular file (`replace`). */
  exists?: 'error' | 'replace';
}

/** The names of {@link TraceFileOptions}. */
export const TRACE_FILE_OPTIONS = [...RING_OPTIONS, 'exists'] as const;

/**
 * Prepares the path of a new trace: completes the trace of a dead process there, and removes it only
 * if it is to be replaced.
 */
function clearPath(path: string, replace: boolean, ringDir: string | undefined): void {
  if (existsSync(path)) {
    const { recoverTrace } = require('../read/recover.js') as typeof import('../read/recover.js');
    try {
      const done = recoverTrace(path, { waitMs: OPENING_WAIT_MS, ringDir });
      warnOfDamage(done);
      warnOfIgnored(done.ignored ?? []);
    } catch (error) {
      const inUse = ['ERR_ORDER', 'ERR_TIMEOUT'];
      if (error instanceof TracewrightError && inUse.includes(error.code)) {
        throw pathTaken('path', path, { inUse: true });
      }
      throw error;
    }
    // An earlier trace did not create a link or a special file.
    if (!replace || !isRegularFile(path)) throw pathTaken('path', path, { advice: REPLACE_ADVICE });
    wrapSystemError('path', path, () => {
      rmSync(path);
    });
  }
  // The ring of a deleted trace is useless and is removed. A ring in a directory for rings may belong
  // to a trace that was moved, and stays.
  for (const candidate of ringCandidates(path, ringDir)) {
    const ring = openBelieved(candidate);
    if (ring === undefined) continue;
    const ready = ring instanceof RingFile;
    const stream = ready ? candidate.streamOf(ring) : path;
    if (ready) ring.close();
    if (ready && ring.doubt(path) !== undefined) continue;
    if (ring.owner === 'alive' && stream !== undefined)
      throw pathTaken('path', path, { inUse: true });
    if (stream === path) rmSync(candidate.path, { force: true });
  }
}

function openBelieved({ path, stream }: Candidate): RingFile | UnreadyRing | undefined {
  try {
    return RingFile.open(path, stream);
  } catch (error) {
    if (isDoubt(error)) warnOfIgnored([error]);
    // In a directory for rings it may be another program's.
    else if (stream !== undefined || !(error instanceof TraceFormatError)) throw error;
    return undefined;
  }
}

/** The name of a target, and the descriptor that is written to; -1: a pipe or device; undefined: a new file. */
function checkTarget(target: unknown): { path: string; descriptor: number | undefined } {
  if (typeof target === 'object' && target !== null) {
    const { fd } = ownOptions(target as { fd?: unknown }, ['fd'], 'path');
    const descriptor = integerIn('path.fd', fd, 0, LARGEST_DESCRIPTOR);
    return { path: `descriptor ${descriptor}`, descriptor };
  }
  const path = checkPath('path', target);
  const standard = { '/dev/stdin': 0, '/dev/stdout': 1, '/dev/stderr': 2 }[path];
  const number = standard ?? /^\/(?:dev|proc\/self)\/fd\/(\d{1,9})$/.exec(path)?.[1];
  if (number !== undefined) return { path, descriptor: Number(number) };
  return { path, descriptor: isPipe(path) ? -1 : undefined };
}

/** Whether a pipe or a device of this user, or of the system, is there. Another user's would get the trace. */
function isPipe(path: string): boolean {
  const kind = kindOf(path);
  if (kind === undefined || !(kind.isFIFO() || kind.isCharacterDevice())) return false;
  return kind.uid === 0 || kind.uid === process.geteuid?.();
}

/** A trace that is open for writing: a file, a pipe or a descriptor, and its ring. */
export class TraceFile {
  readonly path: string;
  readonly ring: Ring;

  /**
   * @param end text that ends the trace, at `close`, at the end of the process or in recovery.
   * @throws TracewrightError for a wrong option, or a file that exists or cannot be made.
   */
  constructor(to: unknown, format: RingFormat, options: TraceFileOptions, end?: string) {
    const { path, descriptor } = checkTarget(to);
    this.path = path;
    const { ringDir, ...settings } = checkRingOptions(options, { onFull: 'block' });
    const exists = oneOf('exists', options.exists ?? 'error', ['error', 'replace']);
    this.ring = new Ring(
      () => new TracewrightError('ERR_CLOSED', `${this.path} is closed`, { field: 'trace' }),
    );
    if (descriptor === undefined && !recordsNothing())
      clearPath(this.path, exists === 'replace', ringDir);
    // A container that is started again can reuse the other two numbers.
    const tag = ringTag();
    const target =
      descriptor === undefined
        ? { path: ringDir === undefined ? ringOf(path) : ringIn(ringDir, tag) }
        : { descriptor, blockLimitMs: options.blockLimitMs ?? NO_LIMIT_MS };
    try {
      const native: RingSetup = {
        ...ringSettings(settings),
        ...target,
        format,
        target: this.path,
        // The commit stamps no record: timestamps are the caller's, or digits.
        stamp: 'none',
        shape:
          format === 'laplace-binary' ? { kind: 'fixed', bytes: RECORD_BYTES } : { kind: 'lines' },
        fileMode: settings.fileMode,
      };
      this.ring.open(native, undefined, settings.onFault);
    } catch (error) {
      if (hasCode(error, 'EEXIST'))
        throw pathTaken('path', this.path, { advice: REPLACE_ADVICE, cause: error });
      throw error;
    }
    if (end !== undefined) {
      this.ring.setEpilogues([[Buffer.from(end)]]);
      this.ring.epilogue[0] = 1;
    }
  }

  /** Writes what has been recorded to the file, on this thread. */
  flush(): void {
    if (this.ring.flush()) return;
    const reason = this.ring.counts()?.lastError ?? 'the file did not take everything';
    throw new TracewrightError('ERR_SYSTEM', reason, { field: 'path', value: this.path });
  }
}
