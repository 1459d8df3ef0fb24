import { readdirSync, statSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { entryOf } from '../../core/map-entries.js';
import { TraceFormatError, TracewrightError } from '../../core/errors.js';
import { isRegularFile } from '../../core/files/file-kind.js';
import { checkPath, ownOptions } from '../../core/options/argument.js';
import {
  CLOCK_OFFSETS,
  PROCESS_METADATA,
  STREAM_FILE,
  STREAM_METADATA,
  isTakenForThread,
  loomOf,
  pidOf,
  tidOf,
} from '../file-names.js';
import { MAX_LABEL_BYTES } from '../layout.js';
import { readClockOffsets } from './clock-offsets.js';
import { privateThreadMetadata, readProcessMetadata, readStreamMetadata } from './metadata.js';
import type { Fault, MarkType, ProcessMetadata, ThreadMetadata } from './metadata.js';

/** Levels of directories below the given path that are searched. */
const MAX_DEPTH = 16;
/** Faults of one file that are reported; further ones are counted. */
const MAX_FAULTS = 1000;

/** One thread of a trace: its events and what its metadata says. */
export interface ThreadStream {
  readonly version: 1 | 3;
  /** The file with the events: `thread.<tid>` of version 1, `stream.obs` of version 3. */
  readonly path: string;
  /** `metadata.json` of the process (version 1) or `stream.json` (version 3). */
  readonly metadataPath: string;
  readonly loom: string;
  readonly pid: number;
  readonly tid: number;
  readonly metadata: ThreadMetadata;
}

export interface TraceProcess {
  readonly pid: number;
  /** The folder of the process; of version 3, the one above its first thread. */
  readonly path: string;
  readonly threads: ThreadStream[];
  /** Version 1 only: what `metadata.json` says. */
  readonly metadata: ProcessMetadata | undefined;
}

export interface TraceLoom {
  readonly name: string;
  readonly processes: TraceProcess[];
}

/** The contents of a trace directory. */
export interface TraceDirectory {
  readonly path: string;
  readonly version: 1 | 3;
  readonly looms: TraceLoom[];
  /** Every thread, in the order of the paths. */
  readonly streams: ThreadStream[];
  /**
   * Nanoseconds to add to the clocks of a host (the part of a loom's name before its first dot),
   * from `clock-offsets.txt`. Empty without that file.
   */
  readonly clockOffsets: ReadonlyMap<string, bigint>;
}

export interface TraceDirectoryOptions {
  /**
   * Called with each fault that leaves the rest of the trace readable, instead of throwing the first
   * one. The result omits what a fault makes unusable. Of one file the first 1000 faults are reported,
   * and then how many more there are.
   */
  onFault?: ((fault: TraceFormatError) => void) | undefined;
}

/** The host of a loom, which has a clock offset: its name up to the first dot. */
export function hostOf(loom: string): string {
  const dot = loom.indexOf('.');
  return dot === -1 ? loom : loom.slice(0, dot);
}

/** Nanoseconds that put the clocks of this thread on the time line of the whole trace. */
export function clockOffsetOf(trace: TraceDirectory, stream: ThreadStream): bigint {
  return trace.clockOffsets.get(hostOf(stream.loom)) ?? 0n;
}

const byPath = (a: { path: string }, b: { path: string }): number =>
  a.path < b.path ? -1 : a.path > b.path ? 1 : 0;

/** The entries of a directory in the order of their names, without hidden ones such as rings. */
function visibleEntries(folder: string): Dirent[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith('.'))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

interface Found {
  /** `stream.json` of version 3. */
  streams: string[];
  /** Process folders of version 1. */
  processes: string[];
}

/** Looks for both versions below a folder, without following symbolic links. */
function find(folder: string, depth: number, found: Found, fault: Fault): void {
  let entries: Dirent[] = [];
  try {
    entries = visibleEntries(folder);
  } catch (error) {
    // The given directory itself has to be there.
    if (depth === 0) throw error;
    fault(folder, `the directory cannot be read: ${(error as Error).message}`);
  }
  const inProcess = pidOf(basename(folder)) !== undefined;
  const files = new Set(entries.filter((entry) => entry.isFile()).map((entry) => entry.name));
  if (files.has(STREAM_METADATA)) {
    found.streams.push(join(folder, STREAM_METADATA));
  }
  if (inProcess && (files.has(PROCESS_METADATA) || [...files].some(isTakenForThread))) {
    found.processes.push(folder);
  }
  for (const entry of entries) {
    if (!entry.isDirectory()) continue;
    if (depth === MAX_DEPTH) {
      fault(folder, `directories are nested deeper than ${MAX_DEPTH}; deeper ones are ignored`);
      return;
    }
    find(join(folder, entry.name), depth + 1, found, fault);
  }
}

function readProcess(
  folder: string,
  only: string | undefined,
  fault: Fault,
): { loom: string; process: TraceProcess } | undefined {
  const pid = pidOf(basename(folder));
  const loom = loomOf(basename(dirname(folder)));
  if (pid === undefined) {
    fault(folder, 'a directory with metadata.json must be named proc.<pid>', 'proc');
    return undefined;
  }
  if (loom === undefined) {
    fault(folder, 'the directory of a process must lie in a directory named loom.<loom>', 'loom');
    return undefined;
  }
  const metadataPath = join(folder, PROCESS_METADATA);
  if (!isRegularFile(metadataPath)) {
    fault(
      metadataPath,
      'the process has no metadata.json, which a process writes when it ends',
      'metadata.json',
    );
    return undefined;
  }
  const metadata = readProcessMetadata(metadataPath, fault);
  if (metadata === undefined) return undefined;

  const threads: ThreadStream[] = [];
  for (const entry of visibleEntries(folder)) {
    if (!isTakenForThread(entry.name)) continue;
    const path = join(folder, entry.name);
    if (only !== undefined && path !== only) continue;
    const tid = tidOf(entry.name);
    if (tid === undefined || !entry.isFile()) {
      fault(
        path,
        'readers of version 1 read this as a thread; expected a file thread.<tid>',
        'tid',
      );
      continue;
    }
    threads.push({
      version: 1,
      path,
      metadataPath,
      loom,
      pid,
      tid,
      metadata: privateThreadMetadata(metadataPath, metadata, tid, fault),
    });
  }
  if (threads.length === 0) {
    fault(folder, 'the process has no thread', 'thread');
  }
  return { loom, process: { pid, path: folder, threads, metadata } };
}

/** The directory of `clock-offsets.txt`: the parent of the loom, or the given one. */
function topOf(folder: string): string {
  for (let at = folder, steps = 0; steps < 3; at = dirname(at), steps += 1) {
    if (loomOf(basename(at)) !== undefined) return dirname(at);
  }
  return folder;
}

/**
 * Finds the looms, processes and threads of a trace and reads their metadata. The path may be a
 * trace directory, one loom or process in it, or a single stream: the file `thread.<tid>` of
 * version 1, the folder `thread.<tid>` of version 3 or the `stream.json` or `stream.obs` in it.
 *
 * A version 1 trace has process directories with a `metadata.json` or thread files (trace specification
 * version 1, first section). A version 3 trace has `stream.json` files at any depth, which identify
 * their streams; names of directories have no meaning there. Hidden names are ignored. Symbolic links
 * below the given path are not followed.
 *
 * @throws TraceFormatError for metadata that is not as the format requires (unless `onFault` is given),
 *   and if there is no trace at the path, or both versions.
 * @throws TracewrightError `ERR_SYSTEM` if the path cannot be read.
 */
export function readTraceDirectory(
  path: string,
  options: TraceDirectoryOptions = {},
): TraceDirectory {
  options = ownOptions(options, ['onFault']);
  const counts = new Map<string, number>();
  const { onFault } = options;
  const trace = readTrace(path, (file, message, field) => {
    if (onFault === undefined) throw faultOf(file, message, field);
    const count = (counts.get(file) ?? 0) + 1;
    counts.set(file, count);
    if (count <= MAX_FAULTS) onFault(faultOf(file, message, field));
  });
  for (const [file, count] of counts) {
    if (count > MAX_FAULTS) onFault?.(faultOf(file, `${count - MAX_FAULTS} more faults`));
  }
  return trace;
}

function faultOf(file: string, message: string, field?: string): TraceFormatError {
  return new TraceFormatError(file, 0, message, { field });
}

/** As {@link readTraceDirectory}, but reports each fault as text, without an error object. */
export function readTrace(path: string, fault: Fault): TraceDirectory {
  checkPath('path', path);
  const given = resolve(path);
  try {
    return read(given, fault);
  } catch (error) {
    if (error instanceof TracewrightError) throw error;
    throw new TracewrightError(
      'ERR_SYSTEM',
      `cannot read the trace at ${given}: ${String(error)}`,
      {
        field: 'path',
        value: path,
        cause: error,
      },
    );
  }
}

function read(given: string, fault: Fault): TraceDirectory {
  const found: Found = { streams: [], processes: [] };
  let folder = given;
  let only: string | undefined;
  if (statSync(given).isFile()) {
    folder = dirname(given);
    const name = basename(given);
    if (name === STREAM_FILE || name === STREAM_METADATA) {
      found.streams.push(join(folder, STREAM_METADATA));
    } else if (isTakenForThread(name)) {
      found.processes.push(folder);
      only = given;
    } else {
      throw new TraceFormatError(given, 0, 'this file is not a stream of an ovni trace', {
        field: 'path',
        value: given,
        limit: 'a folder, thread.<tid>, stream.json or stream.obs',
      });
    }
  } else {
    find(folder, 0, found, fault);
  }
  if (found.streams.length === 0 && found.processes.length === 0) {
    throw new TraceFormatError(given, 0, 'there is no ovni trace here', {
      field: 'path',
      value: given,
      limit: 'loom.<loom>/proc.<pid> with metadata.json, or a stream.json',
    });
  }
  if (found.streams.length > 0 && found.processes.length > 0) {
    throw new TraceFormatError(
      given,
      0,
      `version 1 (${found.processes[0]!}) and version 3 (${found.streams[0]!}) in one trace`,
      { field: 'version', limit: 'one version' },
    );
  }

  const clockOffsets = readClockOffsets(join(topOf(folder), CLOCK_OFFSETS), fault);
  const looms = new Map<string, TraceLoom>();
  const loomNamed = (name: string): TraceLoom => {
    return entryOf(looms, name, () => ({ name, processes: [] }));
  };
  const streams: ThreadStream[] = [];

  for (const processFolder of found.processes) {
    const read = readProcess(processFolder, only, fault);
    if (read === undefined) continue;
    loomNamed(read.loom).processes.push(read.process);
    for (const thread of read.process.threads) streams.push(thread);
  }

  const processes = new Map<TraceLoom, Map<number, TraceProcess>>();
  const tids = new Map<TraceProcess, Set<number>>();
  for (const metadataPath of found.streams) {
    const metadata = readStreamMetadata(metadataPath, fault);
    if (metadata === undefined) continue;
    const streamPath = join(dirname(metadataPath), STREAM_FILE);
    if (!isRegularFile(streamPath)) {
      fault(streamPath, 'there is a stream.json without its stream.obs', 'stream.obs');
      continue;
    }
    const { loom: name, pid, tid } = metadata;
    const loom = loomNamed(name);
    const ofLoom = processes.get(loom) ?? new Map<number, TraceProcess>();
    processes.set(loom, ofLoom);
    let process = ofLoom.get(pid);
    if (process === undefined) {
      process = { pid, path: dirname(dirname(metadataPath)), threads: [], metadata: undefined };
      ofLoom.set(pid, process);
      loom.processes.push(process);
    }
    const known = tids.get(process) ?? new Set<number>();
    tids.set(process, known);
    if (known.has(tid)) {
      fault(metadataPath, `process ${pid} of loom ${name} has thread ${tid} twice`, 'ovni.tid');
      continue;
    }
    const stream: ThreadStream = {
      version: 3,
      path: streamPath,
      metadataPath,
      loom: name,
      pid,
      tid,
      metadata: metadata.thread,
    };
    known.add(tid);
    process.threads.push(stream);
    streams.push(stream);
  }

  return {
    path: folder,
    version: found.processes.length > 0 ? 1 : 3,
    looms: [...looms.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    streams: streams.sort(byPath),
    clockOffsets,
  };
}

/** The mark types of a trace by number: any thread may use those that another has defined. */
export type MarkTypes = ReadonlyMap<number, MarkType>;

/** A title or label, cut because each event of a dump may repeat it. */
function shortened(text: string): string {
  return text.length > MAX_LABEL_BYTES ? `${text.slice(0, MAX_LABEL_BYTES)}…` : text;
}

/**
 * The mark types of all threads, each with the labels of all threads. Texts that are longer than the
 * emulator accepts are cut.
 */
export function markTypesOf(trace: TraceDirectory): MarkTypes {
  const types = new Map<number, MarkType & { labels: Map<bigint, string> }>();
  for (const { metadata } of trace.streams) {
    for (const [type, mark] of metadata.marks) {
      const labels = types.get(type)?.labels ?? new Map<bigint, string>();
      for (const [value, label] of mark.labels) labels.set(value, shortened(label));
      types.set(type, { ...mark, title: shortened(mark.title), labels });
    }
  }
  return types;
}
