import { readSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { TraceFormatError } from '../../core/errors.js';
import {
  cutUnfinishedRecord,
  discardRing,
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
import { fileOfRing, hasPredecessors } from '../file-names.js';
import {
  COUNTER_OFFSET,
  DEFINITION_STREAM,
  EPOCH_PACKET_BYTES,
  EVENT_MAGIC,
  MAGIC_OFFSET,
  MIN_EVENT_BYTES,
  PACKET_HEAD_BYTES,
  STREAM_OFFSET,
} from '../layout.js';
import { cutEnd, lossesOf } from './cut-ends.js';
import { eventBytes, isEvent } from './event-size.js';
import { surveyFile } from './file-survey.js';
import type { FilledStretch } from './file-survey.js';

/** Steps of a counter that are taken for a step back, not for so many missing events. */
const BACKWARDS = 2 ** 31;
const WINDOW_BYTES = 1 << 20;

/** The events that a ring holds, by their heads. */
interface HeldEvents {
  /** The first one that has no place in the file yet. */
  first?: Buffer;
  /** The first counter of each stream. */
  streams: ReadonlyMap<number, number>;
}

/** @throws TraceFormatError when it holds something else: after half an event, readers cannot find the next. */
function heldEvents(ring: RingFile): HeldEvents {
  const { claim, hasPlace, head, openTable } = ring;
  const streams = new Map<number, number>();
  let first: Buffer | undefined;
  let at = ring.tail;
  for (const to of hasPlace ? [claim.to, head] : [head]) {
    while (at < to) {
      const window = ring.read(at, Math.min(to, at + WINDOW_BYTES));
      let inside = 0;
      let bytes: number | undefined;
      while (inside + MIN_EVENT_BYTES <= window.length) {
        bytes = eventBytes(window, inside);
        if (bytes === undefined || bytes > to - at - inside) throw noEvent(ring, at + inside);
        const stream = window.readUInt32BE(inside + STREAM_OFFSET);
        if (stream !== DEFINITION_STREAM) {
          if (!streams.has(stream)) {
            streams.set(stream, window.readUInt32BE(inside + COUNTER_OFFSET));
          }
          const isPlaced = hasPlace && at + inside < claim.to;
          if (!isPlaced) first ??= ring.read(at + inside, at + inside + bytes);
        }
        inside += bytes;
      }
      if (bytes === undefined) throw noEvent(ring, at);
      at += inside;
    }
  }
  ring.openRecords?.refuseBlank(ring.openCount);
  // With nothing in it, its thread still knows the number of its next event. One more may be taken.
  if (streams.size === 0 && openTable !== undefined && openTable.nextNumber > 0) {
    streams.set(openTable.series, openTable.nextNumber - 1);
  }
  return { streams, ...(first === undefined ? {} : { first }) };
}

function noEvent(ring: RingFile, position: number): TraceFormatError {
  const rest = ring.read(position, ring.head);
  const message = rest.some((byte) => byte !== 0)
    ? 'the ring must hold whole events, and here none begins or it is cut'
    : `the ring is filled with zeros: ${rest.length} bytes of events that it held are lost`;
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
  readonly #held = new Map<RingFile, HeldEvents>();
  readonly #faults = new Map<RingFile, TraceFormatError>();
  /** Where the file ends with all that its rings have noted to be written; -1: not known yet. */
  #end = -1;
  /** The ring that was recovered last, or was not: without space it keeps the place that it has noted. */
  #last: RingFile | undefined;

  /** @param left all rings that are left, of which one is recovered after the other. */
  constructor(file: string, left: readonly Leftover[]) {
    this.#file = file;
    this.#rings = left.map(({ ring }) => ring);
    for (const ring of this.#rings) {
      this.#noteFaultOf(ring, () => this.#held.set(ring, heldEvents(ring)));
    }
  }

  /**
   * Where the records of a ring begin that have no place yet.
   *
   * @throws TraceFormatError when the ring has a fault, or the file has one that it does not survive.
   */
  endFor(ring: RingFile): number {
    this.#throwFault(ring);
    if (this.#end === -1) {
      for (const each of this.#rings) {
        this.#noteFaultOf(each, () => {
          cutUnfinishedRecord(each, this.#file, lastEventBytes);
        });
      }
      this.#throwFault(ring);
      this.#end = this.#surveyedEnd();
      this.#throwFault(ring);
    }
    this.#end = Math.max(this.#end, statSync(this.#file).size);
    if (this.#last !== undefined) this.#goPast(this.#last);
    // What the rings before it have added may have reached its place.
    this.#goPast(ring);
    this.#last = ring;
    return this.#end;
  }

  /** Where the whole packets of the file end, and the places of its rings. Cuts off what follows. */
  #surveyedEnd(): number {
    // A ring with a fault is never written and needs no place.
    const rings = this.#rings.filter((each) => !this.#faults.has(each));
    const held = new Map(rings.map((ring) => [ring, this.#held.get(ring)!]));
    const firsts = [...held.values()].flatMap(({ first }) => first ?? []);
    const { end, rest, counters, found } = surveyFile(this.#file, placesOf(rings), firsts);
    const { size } = statSync(this.#file);
    if (rest === 'broken') {
      const fault = brokenFile(this.#file, end, size);
      for (const ring of rings) this.#note(ring, fault);
      return end;
    }
    for (const [ring, { first }] of held) {
      const isIn = first !== undefined && found.has(first);
      if (isIn || isOlder(ring, counters)) this.#note(ring, olderRing(ring, this.#file));
    }
    const isCut =
      rest !== 'nothing' ||
      rings.some((ring) => !this.#faults.has(ring) && hasWrittenPast(ring, end)) ||
      isMissing(held, counters, hasPredecessors(this.#file));
    if (!isCut) return end;
    for (const ring of rings) if (isPlaceBeyond(ring, end)) ring.forgetPlace();
    cutEnd(this.#file, Math.min(end, size));
    return end;
  }

  #goPast({ claim, hasOpenPlace, hasPlace }: RingFile): void {
    const isReached = (hasPlace || hasOpenPlace) && claim.offset <= this.#end;
    if (isReached) this.#end = Math.max(this.#end, claim.offset + claim.to - claim.from);
  }

  #note(ring: RingFile, fault: TraceFormatError): void {
    if (!this.#faults.has(ring)) this.#faults.set(ring, fault);
  }

  #noteFaultOf(ring: RingFile, look: () => void): void {
    try {
      look();
    } catch (error) {
      if (!(error instanceof TraceFormatError)) throw error;
      this.#note(ring, error);
    }
  }

  #throwFault(ring: RingFile): void {
    const fault = this.#faults.get(ring);
    if (fault !== undefined) throw fault;
  }
}

/** The places that rings have noted and may not have filled, in the order of the file. */
function placesOf(rings: readonly RingFile[]): FilledStretch[] {
  return rings
    .filter(({ hasPlace, hasOpenPlace }) => hasPlace || hasOpenPlace)
    .map(({ claim: { from, to, offset } }) => ({ from: offset, to: offset + to - from }))
    .sort((a, b) => a.from - b.from);
}

function isPlaceBeyond({ claim, hasPlace, hasOpenPlace }: RingFile, end: number): boolean {
  return (hasPlace || hasOpenPlace) && claim.offset > end;
}

/** Whether what a ring has noted as written lies after the end of the file. */
function hasWrittenPast({ claim: { from, to, offset }, tail }: RingFile, end: number): boolean {
  return from < to && to <= tail && offset > 0 && offset + to - from > end;
}

/** Whether events are missing between those of the file and those of rings that have dropped none. */
function isMissing(
  held: ReadonlyMap<RingFile, HeldEvents>,
  counters: ReadonlyMap<number, number>,
  isPiece: boolean,
): boolean {
  const firsts = new Map<number, number>();
  for (const [{ dropped }, { streams }] of held) {
    if (dropped > 0) continue;
    for (const [stream, counter] of streams) {
      firsts.set(stream, Math.min(counter, firsts.get(stream) ?? Infinity));
    }
  }
  return [...firsts].some(([stream, counter]) => {
    // Of a piece, an earlier one may have those before.
    const last = counters.get(stream) ?? (isPiece ? counter - 1 : -1);
    const missing = (counter - last - 1) >>> 0;
    return missing > 0 && missing < BACKWARDS;
  });
}

/** Whether the file has an event that the thread of a ring had not begun to write. */
function isOlder(
  { hasOpenPlace, isEnded, openTable }: RingFile,
  counters: ReadonlyMap<number, number>,
): boolean {
  if (hasOpenPlace || isEnded || openTable === undefined) return false;
  const last = counters.get(openTable.series);
  return last !== undefined && (last - openTable.nextNumber) >>> 0 < BACKWARDS;
}

function brokenFile(file: string, end: number, size: number): TraceFormatError {
  return new TraceFormatError(
    file,
    end,
    `the file is damaged: no packet begins here, and ${size - end} bytes follow. The file and its ` +
      'rings are left as they are',
    { field: 'magic' },
  );
}

function olderRing({ path, tail }: RingFile, file: string): TraceFormatError {
  return new TraceFormatError(
    path,
    0,
    `the ring does not fit ${file}: it is older, for the file has what the ring still holds. Both are ` +
      'left as they are',
    { field: 'tail', value: tail },
  );
}

function* candidates(file: string, options: RecoverOptions): Generator<Candidate, void> {
  const directory = dirname(file);
  const isMine = (ring: RingFile) => ring.format === 'heph' && ring.targetKind === 'shared-file';
  const isRing = (name: string) => fileOfRing(name) === basename(file);
  for (const path of ringsBelow(directory, isRing, Infinity)) {
    yield {
      path,
      stream: file,
      beginning: EPOCH_PACKET_BYTES,
      streamOf: (ring) => (isMine(ring) ? file : undefined),
    };
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
  const done = recoverFile(file, options, (leftover, left, result) => {
    if (discardUnused(leftover, result)) return;
    const { ring, stream } = leftover;
    rings ??= new RingsOfFile(stream, left);
    const end = rings.endFor(ring);
    result.streams.push(recoverSharedFile(ring, stream, end, isEvent));
    discardRing(ring);
  });
  done.faults.push(...lossesOf(file));
  return done;
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
