import { basename, dirname, join } from 'node:path';
import { pathIn } from '../core/files/path-in.js';

/**
 * The names of everything in an ovni trace.
 *
 *     <trace>/clock-offsets.txt
 *     <trace>/loom.<loom>/proc.<pid>/                       version 1
 *         metadata.json
 *         thread.<tid>                                      the stream
 *         .thread.<tid>.ring
 *     <trace>/loom.<loom>/proc.<pid>/thread.<tid>/          version 3
 *         stream.json
 *         stream.obs                                        the stream
 *         .stream.json.finished                             stream.json after the thread's end
 *         .stream.ring
 *
 * With a `ringDir` the rings lie there.
 */

export const PROCESS_METADATA = 'metadata.json';
export const STREAM_METADATA = 'stream.json';
export const FINISHED_METADATA = '.stream.json.finished';
/** Version 3; the stream of version 1 has the name of its thread. */
export const STREAM_FILE = 'stream.obs';
export const CLOCK_OFFSETS = 'clock-offsets.txt';
/** In a loom of version 1: which process names the loom's CPUs has been decided. */
export const CPUS_NAMED = '.cpus';

/** The folder of ovni traces in the directory of a run of the register hook. */
export const RUN_FOLDER = 'ovni';

/** Begin of a ring's format; the version follows. */
export const RING_FORMAT = 'ovni ';

const RING = '.ring';
const STREAM_RING = '.stream.ring';
const LOOM = 'loom.';
const PROCESS = 'proc.';
const THREAD = 'thread.';

/** Metadata files that are being written, before they replace the one of the plain name. */
export const HALF_WRITTEN_METADATA = [STREAM_METADATA, FINISHED_METADATA, PROCESS_METADATA].map(
  (name) => `.${name}.new`,
);

/** Names a file while it is copied into a trace. */
export function copyName(name: string): string {
  return `.${name}.new`;
}

export function loomName(loom: string): string {
  return LOOM + loom;
}

export function processName(pid: number): string {
  return PROCESS + String(pid);
}

export function threadName(tid: number): string {
  return THREAD + String(tid);
}

/** The loom that a directory is named for, undefined for any other name. */
export function loomOf(name: string): string | undefined {
  return name.length > LOOM.length && name.startsWith(LOOM) ? name.slice(LOOM.length) : undefined;
}

/** The pid, 1 to 2^31 - 1, that a directory is named for; undefined for any other name. */
export function pidOf(name: string): number | undefined {
  return numberAfter(PROCESS, name);
}

/** The tid, 1 to 2^31 - 1, that a file or directory is named for; undefined for any other name. */
export function tidOf(name: string): number | undefined {
  return numberAfter(THREAD, name);
}

/** Whether readers of version 1 take a file of this name for a thread's stream. */
export function isTakenForThread(name: string): boolean {
  return name.startsWith(THREAD);
}

function numberAfter(prefix: string, name: string): number | undefined {
  if (!name.startsWith(prefix)) return undefined;
  const digits = name.slice(prefix.length);
  if (!/^[0-9]{1,10}$/.test(digits)) return undefined;
  const value = Number(digits);
  return value > 0 && value < 2 ** 31 ? value : undefined;
}

const isProcessName = (name: string): boolean => /^proc\.\d+$/.test(name);
/** Whether the name is that of a thread's directory (version 3), or of its stream (version 1). */
export const isThreadName = (name: string): boolean => /^thread\.\d+$/.test(name);

/** Whether a path has the name of a loom, process or thread, of either version. */
export function isPartOfTrace(name: string): boolean {
  return /^loom\..+$/.test(name) || isProcessName(name) || isThreadName(name);
}

/** Whether the name is that of a stream of either version, or of the metadata next to it. */
export function isStreamFile(name: string): boolean {
  return name === STREAM_FILE || name === STREAM_METADATA || isThreadName(name);
}

/** Where the files of one thread lie. */
export interface StreamFiles {
  /** The directory of the stream and its metadata: the thread's, of version 1 the process's. */
  directory: string;
  stream: string;
  /** The ring without a `ringDir`. */
  ring: string;
  /** Of version 3, as are the next two: the stream's metadata and the one after its end. */
  metadata: string;
  finishedMetadata: string;
  /** Finished files of the thread, from the directory of the process. */
  names: readonly string[];
}

export function streamFiles(processDirectory: string, version: 1 | 3, tid: number): StreamFiles {
  const thread = threadName(tid);
  const directory = version === 3 ? pathIn(processDirectory, thread) : processDirectory;
  return {
    directory,
    stream: pathIn(directory, version === 3 ? STREAM_FILE : thread),
    ring: pathIn(directory, version === 3 ? STREAM_RING : `.${thread}${RING}`),
    metadata: pathIn(directory, STREAM_METADATA),
    finishedMetadata: pathIn(directory, FINISHED_METADATA),
    names:
      version === 3 ? [STREAM_FILE, STREAM_METADATA].map((name) => pathIn(thread, name)) : [thread],
  };
}

/** A stream of either version, by its name and directory. */
export function isStream(name: string, directory: string): boolean {
  return name === STREAM_FILE
    ? isThreadName(basename(directory))
    : isThreadName(name) && isProcessName(basename(directory));
}

const isRingOfVersion1 = (name: string): boolean => /^\.thread\.\d+\.ring$/.test(name);

/** A ring next to its stream, by its name. */
export function isRingName(name: string): boolean {
  return name === STREAM_RING || isRingOfVersion1(name);
}

/** A ring next to its stream, by its name and directory. */
export function isRing(name: string, directory: string): boolean {
  return name === STREAM_RING
    ? isThreadName(basename(directory))
    : isRingOfVersion1(name) && isProcessName(basename(directory));
}

/** The stream that a ring next to it feeds. */
export function streamOfRing(ring: string): string {
  const name = basename(ring);
  const stream = name === STREAM_RING ? STREAM_FILE : name.slice(1, -RING.length);
  return join(dirname(ring), stream);
}

/** The ring next to a stream. */
export function ringOf(stream: string): string {
  const name = versionOf(stream) === 3 ? STREAM_RING : `.${basename(stream)}${RING}`;
  return join(dirname(stream), name);
}

/** Whether this is the ring of a version 3 stream, next to it. */
export function isRingOfVersion3(ring: string): boolean {
  return basename(ring) === STREAM_RING;
}

/** @param tag keeps apart the rings of several threads and processes. */
export function ringInRingDir(ringDir: string, tag: string): string {
  return join(ringDir, `tracewright-${tag}${RING}`);
}

/** Whether a ring lies next to its stream: in a `ringDir` its name is not hidden. */
export function isNextToStream(ring: string): boolean {
  return basename(ring).startsWith('.');
}

export function versionOf(stream: string): 1 | 3 {
  return basename(stream) === STREAM_FILE ? 3 : 1;
}

/** The metadata that says whose a stream is. */
export function metadataOf(stream: string): string {
  return join(dirname(stream), versionOf(stream) === 3 ? STREAM_METADATA : PROCESS_METADATA);
}

/** The metadata that a stream of version 3 will have after its end. */
export function finishedMetadataOf(stream: string): string {
  return join(dirname(stream), FINISHED_METADATA);
}

/** The digits in the name of the thread whose stream this is. */
export function threadDigitsOf(stream: string): string {
  const name = versionOf(stream) === 3 ? basename(dirname(stream)) : basename(stream);
  return name.slice(THREAD.length);
}

/** The directory of the process whose stream or ring this is. */
export function processDirectoryOf(path: string): string {
  const directory = dirname(path);
  return isThreadName(basename(directory)) ? dirname(directory) : directory;
}
