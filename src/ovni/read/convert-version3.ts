import { closeSync, existsSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { checkPath, ownOptions } from '../../core/options/argument.js';
import { TraceFormatError, TracewrightError, outOfRange } from '../../core/errors.js';
import type { Progress } from '../../core/finding.js';
import { makeDirectories } from '../../core/files/make-directories.js';
import { PRIVATE_FILE } from '../../core/options/file-mode.js';
import { readSeen } from '../../core/files/file-view.js';
import { openRegularFile } from '../../core/files/regular-file.js';
import { modelOf, models } from '../catalog.js';
import type { ModelName } from '../catalog.js';
import {
  CLOCK_OFFSET,
  codeOf,
  HEADER_BYTES,
  MCV_OFFSET,
  mcvOf,
  STREAM_HEADER_BYTES,
  putStreamHeader,
} from '../layout.js';
import { CLOCK_OFFSETS, loomName, processName, streamFiles } from '../file-names.js';
import { library } from '../metadata-keys.js';
import { pathTaken } from '../../core/files/path-taken.js';
import { writeAll } from '../../core/files/write-all.js';
import type { JsonObject } from '../../core/json.js';
import { StreamReader, PROGRESS_EVENTS } from './reader.js';
import { transitionOf } from '../thread-state.js';
import { hostOf, readTraceDirectory } from './trace-directory.js';
import { readClockOffsetsFile, MAX_GAP_NANOSECONDS } from './clock-offsets.js';
import type { ThreadStream, TraceDirectory } from './trace-directory.js';

const COPY_BYTES = 1 << 20;
const BURST = codeOf('OB.');

export interface ConvertOptions {
  onProgress?: Progress | undefined;
}

/** A difference between the two traces, or a fault that the conversion cannot repair. */
export interface ConversionNote {
  /** The file of the version 1 trace. */
  readonly path: string;
  readonly message: string;
}

export interface Conversion {
  readonly threads: number;
  readonly events: number;
  readonly notes: readonly ConversionNote[];
}

/** Results of one pass over a version 1 stream. */
interface Scan {
  readonly events: number;
  readonly firstClock: bigint | undefined;
  /** Bytes of whole events. */
  readonly bytes: number;
  readonly littleEndian: boolean;
  readonly used: ReadonlySet<ModelName>;
}

/**
 * Converts a trace of version 1 to version 3, which today's emulator reads. The events are copied after
 * the new stream header. The metadata comes from `metadata.json`, from Tracewright's own key in it, and
 * from the events: `ovni.require` names ovni and each model whose events occur.
 *
 * The conversion repairs only what it can repair without inventing facts. It omits an incomplete event
 * at the end of a stream, and threads without events. The emulator refuses a stream that begins more
 * than an hour after the first stream of its host. Such a stream gets a leading `OB.`, an event without
 * meaning, at the clock of that first stream. Other faults, such as a thread that never ended, remain.
 * The returned notes list them; {@link checkTrace} finds all.
 *
 * @param from a version 1 trace, or a loom, process or thread of one.
 * @param to path of the new trace, which must not exist, outside of `from`.
 * @throws TracewrightError `ERR_TRACE_EXISTS` if `to` exists, `ERR_ARGUMENT_RANGE` if it is inside
 *   `from` or `from` is no version 1 trace, `ERR_SYSTEM` if files cannot be read or written.
 * @throws TraceFormatError if metadata cannot be read. After an error nothing is left at `to`.
 */
export function convertToVersion3(
  from: string,
  to: string,
  options: ConvertOptions = {},
): Conversion {
  checkPath('from', from);
  options = ownOptions(options, ['onProgress']);
  const target = checkPath('to', to);
  if (existsSync(target)) {
    throw pathTaken('to', target, { advice: 'choose another path' });
  }
  const inside = relative(resolve(from), target);
  if (inside !== '..' && !inside.startsWith(`..${sep}`)) {
    throw outOfRange('to', to, 'a path outside of the trace that is converted');
  }
  const trace = readTraceDirectory(from);
  if (trace.version !== 1) {
    throw new TracewrightError(
      'ERR_ARGUMENT_RANGE',
      `${from} is a trace of version ${trace.version}; only version 1 is converted`,
      { field: 'from', value: from, limit: 'a trace of version 1' },
    );
  }
  try {
    makeDirectories(target);
    return convert(trace, target, options.onProgress);
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    if (error instanceof TracewrightError) throw error;
    throw new TracewrightError('ERR_SYSTEM', `cannot convert to ${target}: ${String(error)}`, {
      field: 'to',
      value: to,
      cause: error,
    });
  }
}

function convert(
  trace: TraceDirectory,
  target: string,
  onProgress: Progress | undefined,
): Conversion {
  const notes: ConversionNote[] = [];
  const sizes = trace.streams.map((stream) => statSync(stream.path).size);
  // Each stream is read twice: for its metadata, and to copy it.
  const total = 2 * sizes.reduce((sum, size) => sum + size, 0);
  let done = 0;
  const progress = (bytes: number): void => onProgress?.(done + bytes, total);

  const scans = trace.streams.map((stream, at) => {
    const scan = scanStream(stream, notes, progress);
    done += sizes[at]!;
    return scan;
  });
  const starts = new Map<string, bigint>();
  for (const [at, { firstClock }] of scans.entries()) {
    const host = hostOf(trace.streams[at]!.loom);
    const start = starts.get(host);
    if (firstClock !== undefined && (start === undefined || firstClock < start)) {
      starts.set(host, firstClock);
    }
  }

  let threads = 0;
  let events = 0;
  /** The processes whose CPUs are written: their first thread has them. */
  const withCpus = new Set<string>();
  for (const [at, stream] of trace.streams.entries()) {
    const scan = scans[at]!;
    if (scan.firstClock === undefined) {
      notes.push({ path: stream.path, message: 'omitted: the thread has no complete event' });
    } else {
      const process = join(target, loomName(stream.loom), processName(stream.pid));
      const files = streamFiles(process, 3, stream.tid);
      makeDirectories(files.directory);
      const start = starts.get(hostOf(stream.loom))!;
      const late = scan.firstClock - start > MAX_GAP_NANOSECONDS;
      if (late) {
        notes.push({
          path: stream.path,
          message: `begins with an added OB. at ${start}: the thread starts more than an hour after the first one`,
        });
      }
      writeFileSync(
        files.metadata,
        `${JSON.stringify(streamJson(stream, scan, notes, !withCpus.has(process)), null, 2)}\n`,
        { mode: PRIVATE_FILE },
      );
      withCpus.add(process);
      copyStream(stream, scan, files.stream, late ? start : undefined, progress);
      threads += 1;
      events += scan.events;
    }
    done += sizes[at]!;
  }
  const offsets = join(trace.path, CLOCK_OFFSETS);
  if (trace.clockOffsets.size > 0 && existsSync(offsets)) {
    writeFileSync(join(target, CLOCK_OFFSETS), readClockOffsetsFile(offsets), {
      mode: PRIVATE_FILE,
    });
  }
  onProgress?.(total, total);
  return { threads, events, notes };
}

function scanStream(
  stream: ThreadStream,
  notes: ConversionNote[],
  progress: (bytes: number) => void,
): Scan {
  const { path } = stream;
  const reader = new StreamReader(path, { version: 1, maxDataBytes: 0 });
  const used = new Set<ModelName>();
  const unknown = new Set<string>();
  const codes = new Set<number>();
  let events = 0;
  let firstClock: bigint | undefined;
  let last: bigint | undefined;
  let lastTransition: string | undefined;
  let backwards = 0;
  const { event } = reader;
  try {
    while (reader.next()) {
      const { code, clock } = event;
      firstClock ??= clock;
      if (last !== undefined && clock < last) backwards += 1;
      last = clock;
      lastTransition = transitionOf(code)?.mcv ?? lastTransition;
      // A letter identifies the model, but a hostile stream can have 2^24 codes.
      if (!codes.has(code >>> 16)) {
        codes.add(code >>> 16);
        const mcv = mcvOf(code);
        const model = modelOf(mcv);
        if (model === undefined) unknown.add(mcv.slice(0, 1));
        else used.add(model);
      }
      events += 1;
      if (events % PROGRESS_EVENTS === 0) progress(reader.offset);
    }
  } catch (error) {
    if (!(error instanceof TraceFormatError)) throw error;
    notes.push({
      path,
      message: `cut at byte ${reader.offset} of ${reader.size}, after the last complete event`,
    });
  } finally {
    reader.close();
  }
  const note = (message: string): void => {
    notes.push({ path, message });
  };
  if (events > 0 && lastTransition !== 'OHe') {
    note(
      `the thread has no end (its last state event: ${lastTransition ?? 'none'}); the emulator refuses it`,
    );
  }
  if (backwards > 0) {
    note(
      `the clock goes back ${backwards} times; the emulator refuses the stream until it is sorted`,
    );
  }
  if (unknown.size > 0) {
    note(
      `events of the models ${JSON.stringify([...unknown].join(' '))}, which the emulator does not know and refuses`,
    );
  }
  if (used.has('mpi') && stream.metadata.require === undefined) {
    note('events of model M are mpi in version 3, and OpenMP in old traces of version 1');
  }
  return {
    events,
    firstClock,
    bytes: reader.offset,
    littleEndian: reader.littleEndian,
    used,
  };
}

function streamJson(
  stream: ThreadStream,
  scan: Scan,
  notes: ConversionNote[],
  isFirst: boolean,
): JsonObject {
  const { metadata, metadataPath } = stream;
  const own = (metadata.json['ovni'] ?? {}) as JsonObject;
  const require: JsonObject = { ovni: models.ovni.version };
  for (const model of scan.used) require[model] = models[model].version;
  Object.assign(require, Object.fromEntries(metadata.require ?? []));
  // A thread that its writer did not mark as finished stays so, and the emulator reports it.
  if (!metadata.finished) {
    notes.push({ path: metadataPath, message: `thread ${stream.tid} is not marked finished` });
  }
  const ovni: JsonObject = {
    ...own,
    lib: { ...library, ...(metadata.epoch !== undefined && { epoch: String(metadata.epoch) }) },
    part: 'thread',
    tid: stream.tid,
    pid: stream.pid,
    loom: stream.loom,
    ...(metadata.appId !== undefined && { app_id: metadata.appId }),
    require,
    ...(metadata.rank !== undefined && { rank: metadata.rank }),
    ...(metadata.nranks !== undefined && { nranks: metadata.nranks }),
    ...(isFirst &&
      metadata.cpus !== undefined && {
        loom_cpus: metadata.cpus.map(({ index, phyid }) => ({ index, phyid })),
      }),
    ...(metadata.finished && { finished: 1 }),
  };
  return { version: 3, ovni, ...metadata.attributes };
}

function streamHead(scan: Scan, leadClock: bigint | undefined): Buffer {
  const little = scan.littleEndian;
  const head = Buffer.alloc(STREAM_HEADER_BYTES + (leadClock === undefined ? 0 : HEADER_BYTES));
  putStreamHeader(head, little);
  if (leadClock !== undefined) {
    const at = STREAM_HEADER_BYTES;
    head.write(mcvOf(BURST), at + MCV_OFFSET, 'latin1');
    if (little) head.writeBigUInt64LE(leadClock, at + CLOCK_OFFSET);
    else head.writeBigUInt64BE(leadClock, at + CLOCK_OFFSET);
  }
  return head;
}

function copyStream(
  stream: ThreadStream,
  scan: Scan,
  target: string,
  leadClock: bigint | undefined,
  progress: (bytes: number) => void,
): void {
  const { fd: input, view } = openRegularFile(stream.path, 'followed');
  try {
    const output = openSync(target, 'wx', PRIVATE_FILE);
    try {
      let end = writeAll(output, streamHead(scan, leadClock), 0);
      const buffer = Buffer.allocUnsafe(Math.min(COPY_BYTES, scan.bytes));
      for (let at = 0; at < scan.bytes;) {
        const count = readSeen(
          input,
          view,
          buffer,
          0,
          Math.min(buffer.length, scan.bytes - at),
          at,
        );
        if (count === 0) {
          throw new TraceFormatError(stream.path, at, 'the file became shorter while it was read');
        }
        end = writeAll(output, buffer.subarray(0, count), end);
        at += count;
        progress(at);
      }
    } finally {
      closeSync(output);
    }
  } finally {
    closeSync(input);
  }
}
