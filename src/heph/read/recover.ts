import { readSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { TraceFormatError } from '../../core/errors.js';
import {
  cutUnfinishedRecord,
  discardRing,
  endOfPlaces,
  recoverSharedFile,
} from '../../core/recovery/recover-file.js';
import { checkPath, ownOptions } from '../../core/options/argument.js';
import { discardUnused, recoverRingsLocked } from '../../core/recovery/recover-rings.js';
import { RECOVER_OPTIONS } from '../../core/recovery/recovery.js';
import { ringsBelow } from '../../core/recovery/ring-search.js';
import type { Candidate, Complete, Leftover } from '../../core/recovery/recover-rings.js';
import type { Recovery, RecoverOptions } from '../../core/recovery/recovery.js';
import { ringsElsewhere } from '../../core/recovery/detached-ring.js';
import type { RingFile } from '../../core/recovery/ring-file.js';
import { fileOfRing } from '../file-names.js';
import { eventBytes, isEvent } from './event-size.js';
import { EVENT_MAGIC, MAGIC_OFFSET, PACKET_HEAD_BYTES } from '../layout.js';

const WINDOW_BYTES = 1 << 20;

/** Why a ring does not contain whole events. After half an event, readers cannot find the next. */
function faultOfEvents(ring: RingFile): TraceFormatError | undefined {
  let at = ring.tail;
  for (const to of ring.hasPlace ? [ring.claim.to, ring.head] : [ring.head]) {
    while (at < to) {
      const window = ring.read(at, Math.min(to, at + WINDOW_BYTES));
      let inside = 0;
      let bytes: number | undefined;
      while (inside + PACKET_HEAD_BYTES <= window.length) {
        bytes = eventBytes(window, inside);
        if (bytes === undefined || bytes > to - at - inside) return noEvent(ring, at + inside);
        inside += bytes;
      }
      if (bytes === undefined) return noEvent(ring, at);
      at += inside;
    }
  }
  return undefined;
}

function noEvent(ring: RingFile, position: number): TraceFormatError {
  const message = 'the ring must hold whole events, and here none begins or it is cut';
  return new TraceFormatError(ring.path, ring.offsetOf(position), message, { field: 'event' });
}

/** Bytes of the file's last event by its size field; even its head can be incomplete. */
function lastEventBytes(fd: number, offset: number): number | undefined {
  const head = Buffer.alloc(PACKET_HEAD_BYTES, 0xff);
  head.writeUInt32BE(EVENT_MAGIC, MAGIC_OFFSET);
  readSync(fd, head, 0, head.length, offset);
  return eventBytes(head, 0);
}

/** The rings of one file. Each is looked at once, not once for each of the others. */
class RingsOfFile {
  readonly #file: string;
  readonly #rings: readonly RingFile[];
  readonly #faults = new Map<RingFile, TraceFormatError>();
  /** Where the file ends with all that its rings have noted to be written; -1: not known yet. */
  #end = -1;
  /** The ring that was recovered last, or was not: without space it keeps the place that it has noted. */
  #last: RingFile | undefined;

  /** @param left all rings that are left, of which one is recovered after the other. */
  constructor(file: string, left: readonly Leftover[]) {
    this.#file = file;
    this.#rings = left.map(({ ring }) => ring);
    for (const ring of this.#rings) this.#note(ring, faultOfEvents(ring));
  }

  /**
   * Where the records of a ring begin that have no place yet.
   *
   * @throws TraceFormatError when the ring has a fault.
   */
  endFor(ring: RingFile): number {
    this.#throwFault(ring);
    if (this.#end === -1) {
      for (const each of this.#rings) this.#note(each, faultOfCut(each, this.#file));
      this.#throwFault(ring);
      // A ring with a fault is never written and needs no place.
      const rings = this.#rings.filter((each) => !this.#faults.has(each));
      this.#end = endOfPlaces(rings, statSync(this.#file).size);
    }
    this.#end = Math.max(this.#end, statSync(this.#file).size);
    if (this.#last !== undefined) this.#goPast(this.#last);
    // What the rings before it have added may have reached its place.
    this.#goPast(ring);
    this.#last = ring;
    return this.#end;
  }

  #goPast({ claim, hasOpenPlace, hasPlace }: RingFile): void {
    const isReached = (hasPlace || hasOpenPlace) && claim.offset <= this.#end;
    if (isReached) this.#end = Math.max(this.#end, claim.offset + claim.to - claim.from);
  }

  #note(ring: RingFile, fault: TraceFormatError | undefined): void {
    if (fault !== undefined && !this.#faults.has(ring)) this.#faults.set(ring, fault);
  }

  #throwFault(ring: RingFile): void {
    const fault = this.#faults.get(ring);
    if (fault !== undefined) throw fault;
  }
}

/** Cuts off what a ring says to be unfinished; why what it says is wrong, if it is. */
function faultOfCut(ring: RingFile, file: string): TraceFormatError | undefined {
  try {
    cutUnfinishedRecord(ring, file, lastEventBytes);
    return undefined;
  } catch (error) {
    if (error instanceof TraceFormatError) return error;
    throw error;
  }
}

function* candidates(file: string, options: RecoverOptions): Generator<Candidate, void> {
  const directory = dirname(file);
  const isMine = (ring: RingFile) => ring.format === 'heph' && ring.targetKind === 'shared-file';
  const isRing = (name: string) => fileOfRing(name) === basename(file);
  for (const path of ringsBelow(directory, isRing, Infinity)) {
    yield { path, stream: file, streamOf: (ring) => (isMine(ring) ? file : undefined) };
  }
  yield* ringsElsewhere(options.ringDir, {
    isMine,
    holds: (path) => path === file,
    files: () => [file],
    siblings: (_, { path }) => [{ from: path, to: join(directory, basename(path)) }],
  });
}

function recoverFile(file: string, options: RecoverOptions, complete: Complete): Recovery {
  return recoverRingsLocked(
    () => candidates(file, options),
    () => [dirname(file)],
    options,
    complete,
  );
}

/**
 * Recovers a Heph file of a dead process: writes the events in its rings to the file and deletes the
 * rings. It can be interrupted and repeated.
 *
 * @param path the trace's file.
 * @throws TracewrightError `ERR_ORDER` when a process that writes the trace is alive, `ERR_TIMEOUT`
 *   when another recovers it for longer than `waitMs`; nothing is changed then.
 */
export function recoverTrace(path: string, options: RecoverOptions = {}): Recovery {
  const file = checkPath('path', path);
  options = ownOptions<RecoverOptions>(options, RECOVER_OPTIONS);
  let rings: RingsOfFile | undefined;
  return recoverFile(file, options, (leftover, left, result) => {
    if (discardUnused(leftover, result)) return;
    const { ring, stream } = leftover;
    rings ??= new RingsOfFile(stream, left);
    const end = rings.endFor(ring);
    result.streams.push(recoverSharedFile(ring, stream, end, isEvent));
    discardRing(ring);
  });
}

/**
 * Deletes the rings of a file that was removed, so that a new file at its path does not get their
 * events. A ring with events in a directory of its own is kept: the file may have been moved.
 *
 * @throws TracewrightError as {@link recoverTrace}.
 */
export function discardRings(path: string, options: RecoverOptions = {}): Recovery {
  return recoverFile(resolve(path), options, ({ ring, stream }, _, result) => {
    discardRing(ring);
    result.emptied.push(stream);
  });
}
