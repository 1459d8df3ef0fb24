import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { LITTLE } from '../../core/byte-order.js';
import { ringTag } from '../../core/ring/ring-tag.js';
import { recordsNothing } from '../../core/off.js';
import { systemThreadId } from '../../core/system-thread.js';
import type { RingSetup } from '../../core/ring/ring.js';
import { outOfRange } from '../../core/errors.js';
import { kindOf } from '../../core/files/file-kind.js';
import { pathIn } from '../../core/files/path-in.js';
import { directoryMode } from '../../core/options/file-mode.js';
import { ownIdentity } from '../../core/recovery/process-identity.js';
import {
  PROCESS_METADATA,
  RING_FORMAT,
  ringInRingDir,
  streamFiles,
  threadName,
  tidOf,
} from '../file-names.js';
import type { StreamFiles } from '../file-names.js';
import { CLOCK_OFFSET, HEADER_BYTES, STREAM_HEADER_BYTES, putStreamHeader } from '../layout.js';
import { ringIsThere } from '../../core/recovery/lost-ring.js';
import type { StreamOwner } from '../metadata-keys.js';
import { ringSettings } from '../../core/options/ring-options.js';
import type { OvniProcess } from './process-note.js';
import {
  moveProcessMetadata,
  moveToTrace,
  removeEmptyWorkDir,
  removeQuietly,
} from './process-directory.js';

/** A second thread with the same system number gets this much more. It is above every pid_max of Linux. */
const TID_STEP = 1 << 22;

/** Where one stream lies: its thread number, its files and its ring. */
export class StreamDirectory {
  /** The process as it was known when the stream began, or ended. */
  process: OvniProcess;
  readonly tid: number;
  readonly files: StreamFiles;
  /** Says in the metadata who finishes the stream, for a recovery that finds no ring. */
  readonly owner: StreamOwner;

  /**
   * Chooses a directory in that of the process. The ring of version 3 makes it: a taken one is never entered.
   *
   * @param tid 1 to 2^31 - 1. Default: the system's number of the calling thread.
   */
  constructor(process: OvniProcess, tid: number | undefined) {
    this.process = process;
    this.tid = claim(process, tid);
    const { ringDir } = process.ring;
    this.files = streamFiles(process.workDir, process.version, this.tid);
    const ring =
      ringDir === undefined ? this.files.ring : ringInRingDir(ringDir, ringTag(this.tid));
    this.owner = { ...ownIdentity(), ring };
  }

  /** Options with which the stream's ring is opened. */
  ringOptions(): RingSetup {
    const { ring, version, group } = this.process;
    const options = {
      path: this.owner.ring,
      target: this.files.stream,
      ...ringSettings(ring),
      format: `${RING_FORMAT}${version}`,
      group,
      stampOffset: CLOCK_OFFSET,
      stamp: 'native',
      // Those of a flush are the recorder's own.
      shape: { kind: 'flagged', bytes: HEADER_BYTES, own: 'OF' },
      removeIfEmpty: true,
      fileMode: ring.fileMode,
    } as const;
    if (version === 1) {
      const endList = join(this.process.workDir, PROCESS_METADATA);
      return { ...options, endList, endKey: String(this.tid) };
    }
    return {
      ...options,
      preamble: streamHeader(),
      directory: this.files.directory,
      directoryMode: directoryMode(ring.fileMode),
      finishFrom: this.files.finishedMetadata,
      finishTo: this.files.metadata,
    };
  }

  /** Moves the files of a closed stream from `OVNI_TMPDIR` to the trace. */
  moveToTrace(): void {
    const { process } = this;
    if (process.workDir === process.procDir) return;
    const { directory, names } = this.files;
    // A ring stays as long as it has what the disk refused: recovery finds its stream next to it.
    const isComplete = !ringIsThere(this.owner, this.files.stream);
    // A stream without events has left no file.
    if (isComplete && existsSync(join(process.workDir, names[0]!))) moveToTrace(process, names);
    // After procFini this thread has written the metadata of the process once more.
    if (process.version === 1 && process.finished) moveProcessMetadata(process);
    if (process.version === 3 && isComplete) {
      try {
        rmdirSync(directory);
      } catch {
        // Already gone with an empty stream.
      }
    }
    if (process.finished) removeEmptyWorkDir(process);
  }
}

/** Moves streams from `OVNI_TMPDIR` whose threads ended without `threadFree`: the core has completed them there. */
export function moveFinishedStreams(process: OvniProcess): void {
  const { workDir, procDir, version, ring } = process;
  // Of version 1 only a ring next to its stream says that it is not complete.
  if (workDir === procDir || (version === 1 && ring.ringDir !== undefined)) return;
  for (const name of namesIn(workDir)) {
    const tid = tidOf(name);
    if (tid === undefined) continue;
    const files = streamFiles(workDir, version, tid);
    const isOpen = existsSync(version === 3 ? files.finishedMetadata : files.ring);
    if (isOpen || !existsSync(files.stream)) continue;
    try {
      moveToTrace(process, files.names);
      if (version === 3) removeQuietly(files.directory);
    } catch {
      // A full disk: it stays there, complete.
    }
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function streamHeader(): Buffer {
  const header = Buffer.alloc(STREAM_HEADER_BYTES);
  putStreamHeader(header, LITTLE);
  return header;
}

/** The number of a thread that has a directory in that of the process. */
function claim(process: OvniProcess, tid: number | undefined): number {
  if (recordsNothing()) return tid ?? systemThreadId();
  for (let number = tid ?? systemThreadId(); ; number += TID_STEP) {
    const directory = pathIn(process.workDir, threadName(number));
    const final =
      process.procDir === process.workDir ? directory : pathIn(process.procDir, threadName(number));
    if (kindOf(final) === undefined && kindOf(directory) === undefined) return number;
    if (tid !== undefined) {
      throw outOfRange('tid', tid, 'a number that no other thread of the process has used');
    }
  }
}
