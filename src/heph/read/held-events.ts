import type { RingPage } from '../../core/recovery/ring-page.js';
import { COUNTER_OFFSET, DEFINITION_STREAM, SIZE_OFFSET, STREAM_OFFSET } from '../layout.js';
import type { EventBytes } from './event-bytes.js';

type HeldBytes = Pick<EventBytes, 'bytes' | 'view' | 'position' | 'size'>;

/** Steps of a counter that are taken for a step back, not for so many missing events. */
const BACKWARDS = 2 ** 31;
/** Of an event that is cut: less than this may be the beginning of any. */
const LEAST_CUT_BYTES = COUNTER_OFFSET + 4;

function streamAt(events: Buffer, at: number): number {
  return events.readUInt32BE(at + STREAM_OFFSET);
}

function counterAt(events: Buffer, at: number): number {
  return events.readUInt32BE(at + COUNTER_OFFSET);
}

/** Where whole events begin that follow each other. */
function* positionsIn(events: Buffer): Generator<number, void> {
  for (let at = 0; at < events.length; at += events.readUInt32BE(at + SIZE_OFFSET)) yield at;
}

/** Of one stream, what a ring holds: from its first counter to its last one. */
interface HeldStream {
  readonly ring: HeldRing;
  readonly stream: number;
  readonly first: number;
  last: number;
}

/** The events that one ring holds: those that its file may not have. */
export class HeldRing {
  readonly path: string;
  readonly page: RingPage;
  /** Those of them that were open when the process died. */
  readonly open: readonly Buffer[];
  readonly streams = new Map<number, HeldStream>();
  /** The first counter of each stream among those that had ended. */
  readonly firsts: ReadonlyMap<number, number>;
  readonly #events: Buffer;
  readonly #inFile = new Set<number>();
  /** Where each event lies, by stream and counter; made once one is looked for. */
  #positions: ReadonlyMap<string, number> | undefined;

  /** @param open events that were open, in the bytes that complete them. */
  constructor(page: RingPage, events: Buffer, open: readonly Buffer[]) {
    this.path = page.path;
    this.page = page;
    this.open = open;
    this.#noteStreams(events);
    const firsts = new Map([...this.streams].map(([stream, { first }]) => [stream, first]));
    firsts.delete(DEFINITION_STREAM);
    const { openTable } = page;
    // With nothing in it, its thread still knows the number of its next event. One more may be taken.
    if (firsts.size === 0 && openTable !== undefined && openTable.nextNumber > 0) {
      firsts.set(openTable.series, openTable.nextNumber - 1);
    }
    this.firsts = firsts;
    for (const event of open) this.#noteStreams(event);
    this.#events = open.length === 0 ? events : Buffer.concat([events, ...open]);
  }

  /** Notes the events that are read elsewhere. */
  noteRead(isRead: (stream: number, counter: number) => boolean): void {
    for (const at of positionsIn(this.#events)) {
      if (isRead(streamAt(this.#events, at), counterAt(this.#events, at))) this.#inFile.add(at);
    }
  }

  /** Notes an event of the file; whether it is one of these. Definitions of one number are the same. */
  note(stream: number, counter: number, bytes: Buffer, from: number, to: number): boolean {
    const at = this.#positionOf(stream, counter);
    if (at === undefined) return false;
    const end = at + this.#events.readUInt32BE(at + SIZE_OFFSET);
    const isSame =
      stream === DEFINITION_STREAM || this.#events.compare(bytes, from, to, at, end) === 0;
    if (isSame) this.#inFile.add(at);
    return isSame;
  }

  /** Whether bytes are the beginning of an event that the file does not have: it is being written there. */
  hasBeginning(bytes: Buffer): boolean {
    if (bytes.length < LEAST_CUT_BYTES) return false;
    const at = this.#positionOf(streamAt(bytes, 0), counterAt(bytes, 0));
    if (at === undefined || this.#inFile.has(at)) return false;
    return this.#events.subarray(at, at + bytes.length).equals(bytes);
  }

  /** Those that the file does not have, one after another. */
  missing(): Buffer {
    if (this.#inFile.size === 0) return this.#events;
    const missing: Buffer[] = [];
    for (const at of positionsIn(this.#events)) {
      if (this.#inFile.has(at)) continue;
      missing.push(this.#events.subarray(at, at + this.#events.readUInt32BE(at + SIZE_OFFSET)));
    }
    return Buffer.concat(missing);
  }

  #noteStreams(events: Buffer): void {
    for (const at of positionsIn(events)) {
      const [stream, counter] = [streamAt(events, at), counterAt(events, at)];
      const known = this.streams.get(stream);
      if (known !== undefined) known.last = counter;
      else this.streams.set(stream, { ring: this, stream, first: counter, last: counter });
    }
  }

  #positionOf(stream: number, counter: number): number | undefined {
    this.#positions ??= new Map(
      Array.from(positionsIn(this.#events), (at) => [
        `${streamAt(this.#events, at)} ${counterAt(this.#events, at)}`,
        at,
      ]),
    );
    return this.#positions.get(`${stream} ${counter}`);
  }
}

/** Counters and events of one stream of a file. */
interface StreamOfFile {
  stream: number;
  /** The last counter in the file of an event that no ring holds; undefined: it has none. */
  last: number | undefined;
  held: HeldStream[];
}

/** The events that the rings of a file hold, and which of them the file has: those with the same bytes. */
export class HeldEvents {
  readonly rings: HeldRing[] = [];
  readonly #streams = new Map<number, StreamOfFile>();
  #latest: StreamOfFile = { stream: -1, last: undefined, held: [] };

  add(ring: HeldRing): void {
    this.rings.push(ring);
    for (const each of ring.streams.values()) this.#streamOf(each.stream).held.push(each);
  }

  /** Notes an event of the file. */
  note({ bytes, view, position, size }: HeldBytes): void {
    const stream = view.getUint32(position + STREAM_OFFSET);
    const counter = view.getUint32(position + COUNTER_OFFSET);
    const known = this.#latest.stream === stream ? this.#latest : this.#streamOf(stream);
    this.#latest = known;
    let isHeld = false;
    for (const { ring, first, last } of known.held) {
      const mayBe = stream === DEFINITION_STREAM || (counter - first) >>> 0 <= (last - first) >>> 0;
      if (mayBe && ring.note(stream, counter, bytes, position, position + size)) isHeld = true;
    }
    if (!isHeld) known.last = counter;
  }

  /** Notes events that are read instead of the file, or in one of the rings. */
  noteAll(events: Buffer): void {
    const view = new DataView(events.buffer, events.byteOffset, events.length);
    for (const position of positionsIn(events)) {
      const size = events.readUInt32BE(position + SIZE_OFFSET);
      this.note({ bytes: events, view, position, size });
    }
  }

  /** Whether the file has an event that the thread of a ring had not begun to write. */
  isOlder({ page: { claimsOpenRecords, isEnded, openTable } }: HeldRing): boolean {
    if (claimsOpenRecords || isEnded || openTable === undefined) return false;
    const last = this.#streams.get(openTable.series)?.last;
    return last !== undefined && (last - openTable.nextNumber) >>> 0 < BACKWARDS;
  }

  /**
   * Whether events are missing between those of the file and those of rings that have dropped none.
   *
   * @param isPiece whether earlier pieces may have those of a stream that this file lacks.
   */
  isMissing(isPiece: boolean): boolean {
    const firsts = new Map<number, number>();
    for (const { page, firsts: each } of this.rings) {
      if (page.dropped > 0) continue;
      for (const [stream, counter] of each) {
        firsts.set(stream, Math.min(counter, firsts.get(stream) ?? Infinity));
      }
    }
    return [...firsts].some(([stream, counter]) => {
      const last = this.#streams.get(stream)?.last ?? (isPiece ? counter - 1 : -1);
      const missing = (counter - last - 1) >>> 0;
      return missing > 0 && missing < BACKWARDS;
    });
  }

  /**
   * Whether a ring has noted something as written, or a claim, that lies after the end of the file.
   *
   * @param areClaimsKnown whether these are all rings of the file.
   */
  isNotedPast(end: number, areClaimsKnown: boolean): boolean {
    let covered = end;
    return this.rings
      .flatMap(({ page }) => page.notedChunk ?? [])
      .sort((a, b) => a.from - b.from)
      .some(({ from, to, isWritten }) => {
        const isPast = isWritten ? to > covered : areClaimsKnown && from > covered;
        covered = Math.max(covered, to);
        return isPast;
      });
  }

  #streamOf(stream: number): StreamOfFile {
    let known = this.#streams.get(stream);
    if (known === undefined) {
      known = { stream, last: undefined, held: [] };
      this.#streams.set(stream, known);
    }
    return known;
  }
}
