import type { TracewrightError } from '../../../core/errors.js';
import type { SpanSource } from '../../../spans/read/span-source.js';
import { threadName } from '../../../spans/read/resource-facts.js';
import type { SpanRecord } from '../../../spans/span-record.js';
import { hephFormat } from '../../../spans/read/heph-format.js';
import { NO_TRACE } from '../look-index.js';
import type {
  Answers,
  Condition,
  Counter,
  FoundRows,
  IndexPart,
  LaneFold,
  LookIndex,
  Profile,
  Message,
  Source,
  Track,
  UnreadPart,
  Window,
} from '../look-index.js';
import { IndexedPart } from '../parts/indexed-part.js';
import type { PartPosition, StoredPart } from '../parts/indexed-part.js';
import { joinParents, partAt } from '../sources/join-parents.js';
import { PieceJoiner } from '../sources/joined-pieces.js';
import type { JoinedPieces } from '../sources/joined-pieces.js';
import { unreadable, whileFilesVanish } from '../sources/read-source.js';
import type { ReadSource } from '../sources/read-source.js';
import { TrackNumbers } from '../sources/source-joins.js';
import { activityOf } from './activity.js';
import { NO } from './attribute-match.js';
import { estimateClocks } from './clock-offsets.js';
import type { ClockOffset } from './clock-offsets.js';
import { CompiledPrograms } from './compiled-programs.js';
import { findRows, wordsOf } from './find-rows.js';
import type { PartRecords } from './find-rows.js';
import { alignTimes, closeFiles, joinCounters, openPieces, releaseUnused } from './open-sources.js';
import type { Mutable, OpenPiece, OpenSource } from './open-sources.js';
import { RequestsInFlight } from './requests-in-flight.js';
import {
  deletedPieces,
  deletedRecords,
  droppedRecords,
  hostsOf,
  lossesOf,
  recordedLosses,
  stateOf,
  stateOfPieces,
  withheldPaths,
  writerOf,
} from './source-facts.js';
import { RowRecords, detailsOf, spanOf } from './row-records.js';
import { windowsOf } from './windows.js';

/** Reads the sources again. A source that has not changed is the same object. */
export interface SourceReader {
  /** @param isLast what is gone is a fault of its source. Else `ENOENT` is thrown for it. */
  read(isLast: boolean): Promise<readonly ReadSource[]>;
  close(): void;
  /** @param facts JSON of what is known of the sources: with others, no answer is of use. */
  answers(read: readonly ReadSource[], facts: string): Answers | undefined;
  readonly ringDirs: readonly string[];
  /** Faults of directories that the last reading has searched. */
  readonly faults: readonly TracewrightError[];
}

/** The time in which the threads of a trace in pieces ran. */
function livedOf(pieces: readonly OpenPiece[]): Source['lived'] {
  const all = pieces.flatMap(({ spans }) => spans.lived ?? []);
  if (all.length === 0) return undefined;
  return {
    begin: Math.min(...all.map(({ begin }) => begin)),
    end: Math.max(...all.map(({ end }) => end)),
  };
}

/** An index of sources that have been read. */
export class IndexedSources implements LookIndex {
  readonly sources: Source[] = [];
  readonly tracks: Mutable<Track>[] = [];
  readonly parts: IndexedPart[] = [];
  readonly counters: Counter[] = [];
  rows = 0;
  epoch = 0n;
  length = 0;
  readonly #open: OpenSource[] = [];
  readonly #spansOf = new WeakMap<IndexPart, SpanSource>();
  readonly #indexed = new WeakMap<StoredPart, IndexedPart>();
  readonly #joiner = new PieceJoiner();
  readonly #requests = new RequestsInFlight();
  readonly #compiled = new CompiledPrograms();
  /** By host, and the hosts of which they are. */
  #clocks: ReadonlyMap<string, ClockOffset> = new Map();
  #clocked = '';
  #answers: { of: Answers | undefined } | undefined;
  #joined: Map<number, number>[] | undefined;
  #messages: readonly Message[] | undefined;

  readonly #again: SourceReader;
  #read: readonly ReadSource[] = [];
  #isOpen = false;

  constructor(read: readonly ReadSource[], again: SourceReader) {
    this.#again = again;
    this.#fill(read);
  }

  get messages(): readonly Message[] {
    return (this.#messages ??= this.#open.flatMap(({ source, joined: { pieces } }) => {
      const { messages } = pieces[0]!;
      const part = this.parts.find((each) => each.source === source);
      if (part === undefined) return [];
      const { firstRow, offset } = part;
      return messages.map(({ fromRow, toRow, sent, received, bytes }) => ({
        fromRow: fromRow + firstRow,
        toRow: toRow + firstRow,
        sent: sent + offset,
        received: received + offset,
        bytes,
      }));
    }));
  }

  get ringDirs(): readonly string[] {
    return this.#again.ringDirs;
  }

  get unread(): readonly UnreadPart[] {
    const ofSources = this.sources.flatMap(({ path, losses }) =>
      losses.filter(({ isUnreadable }) => isUnreadable).map((loss) => ({ path, ...loss })),
    );
    const ofSearch = this.#again.faults.map((fault) => ({
      path: String(fault.value),
      ...unreadable(fault),
    }));
    return [...ofSearch, ...ofSources];
  }

  get answers(): Answers | undefined {
    this.#answers ??= { of: this.#answersNow() };
    return this.#answers.of;
  }

  #answersNow(): Answers | undefined {
    const { sources, parts, epoch, length, unread } = this;
    if (unread.length > 0 || sources.some(({ state }) => state === 'growing')) return undefined;
    // Rows have their numbers by the parts before them.
    const rows = parts.map(({ count, firstStart }) => [count, firstStart]);
    const facts = JSON.stringify([rows, epoch, length, sources], (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    return this.#again.answers(this.#read, facts);
  }

  partOf(row: number): IndexPart {
    return partAt(this.parts, row);
  }

  span(row: number): SpanRecord | undefined {
    const { part, own } = this.#rowOf(row);
    if (part.trace[own] === NO_TRACE) return undefined;
    if (part.stored.openAttributes !== undefined) return spanOf(this, part, own);
    return this.#spansOf
      .get(part)!
      .spanAt(part.stored.facts.from + part.recordOffset[own]!, part.start[own]!);
  }

  details(row: number, most?: number): Record<string, unknown> {
    const { part, own } = this.#rowOf(row);
    const offset = part.recordOffset[own]!;
    if (part.stored.openAttributes !== undefined) {
      return detailsOf(this, part, own);
    }
    const { from } = part.stored.facts;
    return this.#spansOf.get(part)!.detailsAt(from + offset, part.start[own]!, most);
  }

  *profiles(): Generator<Profile, void> {
    for (const { source, pieces } of this.#open) {
      const offset = Number(source.epoch + source.clockOffset - this.epoch);
      for (const { spans } of pieces) {
        for (const part of spans.profiles()) yield { source: source.number, part, offset };
      }
    }
  }

  rowsOfTrace(traceId: string): number[] {
    const rows: number[] = [];
    for (const part of this.parts) {
      const wanted = part.findTrace(wordsOf(traceId));
      if (wanted === -1) continue;
      const { trace, firstRow } = part;
      for (let row = trace.indexOf(wanted); row !== -1; row = trace.indexOf(wanted, row + 1)) {
        rows.push(firstRow + row);
      }
    }
    return rows;
  }

  search(condition: Condition): AsyncIterable<FoundRows> {
    return findRows(this.parts, condition, (part) => this.#recordsOf(part));
  }

  async *find(condition: Condition): AsyncGenerator<Int32Array, void> {
    for await (const { rows } of this.search(condition)) if (rows.length > 0) yield rows;
  }

  windows(
    from: number,
    to: number,
    width: number,
    tracks: readonly number[],
    cell = 1,
    fold?: LaneFold,
  ): Window[] {
    const laneCounts = this.tracks.map(({ lanes }) => lanes);
    return windowsOf(this.parts, laneCounts, from, to, width, tracks, cell, fold);
  }

  activity(count: number, tracks: readonly number[]): Float64Array {
    return activityOf(this.parts, new Set(tracks), count, this.length);
  }

  async refresh(): Promise<boolean> {
    const isSame = await whileFilesVanish(async (isLast) => {
      const read = await this.#again.read(isLast);
      const isKnown = (each: ReadSource, i: number): boolean => each === this.#read[i];
      if (read.length === this.#read.length && read.every(isKnown)) return true;
      this.#fill(read);
      return false;
    });
    this.#setUntil();
    releaseUnused(this.parts);
    return !isSame;
  }

  close(): void {
    this.#closeFiles();
    for (const part of this.parts) part.close();
    this.#again.close();
  }

  /** Puts what was read instead of what there was. The epoch stays. */
  #fill(read: readonly ReadSource[]): void {
    this.#arrange(read);
    const hosts = hostsOf(this.sources);
    const clocked = [...new Set(hosts.values())].join('\n');
    if (clocked !== this.#clocked) {
      this.#clocked = clocked;
      // Estimates count from the clocks as they are.
      if (this.#clocks.size > 0) {
        this.#clocks = new Map();
        this.#arrange(read);
      }
      this.#clocks = estimateClocks(this.parts, hosts);
      if (this.#clocks.size > 0) this.#arrange(read);
    }
    this.#isOpen = true;
  }

  #arrange(read: readonly ReadSource[]): void {
    const before = new Map(
      this.#open.flatMap(({ pieces }) => pieces.map((each) => [each.piece.reading, each] as const)),
    );
    const open = this.#openAll(this.#joiner.join(read), before);
    for (const list of [this.#open, this.sources, this.tracks, this.parts, this.counters]) {
      list.length = 0;
    }
    this.#joined = undefined;
    this.#messages = undefined;
    this.#answers = undefined;
    this.#read = read;
    this.#open.push(...open);
    for (const { spans } of before.values()) spans.close();
    for (const { source } of this.#open) this.sources.push(source);
    const times = alignTimes(this.#open, this.#isOpen ? this.epoch : undefined);
    ({ epoch: this.epoch, length: this.length } = times);
    for (const open of this.#open) this.#addParts(open);
    this.rows = this.parts.reduce((sum, { count }) => sum + count, 0);
    this.#setUntil();
  }

  /** Up to when living processes have been read: also where they have recorded nothing since. */
  #setUntil(): void {
    for (const { source, joined } of this.#open) {
      const readAt = joined.pieces.at(-1)!.readAt;
      if (source.state !== 'growing' || !source.isAligned || readAt === undefined) continue;
      source.until = Number(readAt + source.clockOffset - this.epoch);
    }
  }

  #closeFiles(): void {
    for (const open of this.#open) closeFiles(open);
  }

  #rowOf(row: number): { part: IndexedPart; own: number } {
    const part = partAt(this.parts, row);
    if (!Number.isInteger(row) || row < 0 || row >= this.rows) {
      throw new RangeError(`row ${row} is none of the index: it has ${this.rows}`);
    }
    return { part, own: row - part.firstRow };
  }

  #recordsOf(part: IndexedPart): PartRecords {
    if (part.stored.openAttributes !== undefined) return new RowRecords(part);
    const spans = this.#spansOf.get(part)!;
    const { recordOffset, firstRow } = part;
    const { from } = part.stored.facts;
    return {
      meets(row, match) {
        const record = spans.bytesAt(from + recordOffset[row]!);
        return record === undefined ? NO : match.inRecord(record);
      },
      attributes: (row) => this.span(firstRow + row)?.attributes ?? this.details(firstRow + row),
      close: () => undefined,
    };
  }

  /**
   * Reads all that is read of the files themselves. If one is gone, nothing has changed.
   *
   * @param before what is open, by its reading; what is used again is taken from it.
   */
  #openAll(joined: readonly JoinedPieces[], before: Map<object, OpenPiece>): OpenSource[] {
    const pieces = joined.map((each) => openPieces(each, before));
    try {
      return joined.map((each, number) => {
        for (const piece of pieces[number]!) {
          const { trace, counters } = piece.piece;
          piece.counters = trace.format === hephFormat ? [piece.spans.counters] : counters;
        }
        return this.#opened(each, pieces[number]!, number);
      });
    } catch (error) {
      for (const { spans } of pieces.flat()) spans.close();
      throw error;
    }
  }

  #opened(joined: JoinedPieces, opened: OpenPiece[], number: number): OpenSource {
    const { path, pieces } = joined;
    const { trace } = pieces[0]!;
    const { epoch, spans } = opened[0]!;
    const facts = pieces.map(({ parts }) => parts.map((part) => part.facts));
    const resource = trace.format === hephFormat ? spans.resource : undefined;
    const writer = writerOf(trace.path, resource);
    const recorded = opened.flatMap(({ spans: { losses } }) => losses);
    const dropped = droppedRecords(recorded);
    const hostClock = writer.host === undefined ? undefined : this.#clocks.get(writer.host);
    const deleted = deletedPieces(pieces);
    const source: Source = {
      number,
      path,
      format: trace.format.name,
      content: trace.format.content,
      epoch: epoch ?? pieces[0]!.times?.zero ?? 0n,
      clockOffset: BigInt(Math.round(hostClock?.offset ?? 0)),
      clockError: hostClock?.error,
      isAligned: epoch !== undefined,
      ...writer,
      state: stateOfPieces(pieces.map((piece, i) => stateOf(piece, facts[i]!))),
      until: undefined,
      deleted,
      lived: livedOf(opened),
      profiled: [...new Set(opened.flatMap(({ spans }) => [...spans.profiled]))],
      heapLimit: opened.find(({ spans }) => spans.heapLimit !== undefined)?.spans.heapLimit,
      losses: [
        ...withheldPaths(resource),
        ...deletedRecords({ deleted, path }),
        ...recordedLosses(recorded),
        ...pieces.flatMap((piece, i) => [
          ...lossesOf(piece, facts[i]!, dropped, resource),
          ...opened[i]!.spans.faults.map(unreadable),
        ]),
      ],
    };
    const original = this.#compiled.of(source, resource);
    for (const piece of opened) piece.spans.original = original;
    return { source, joined, pieces: opened, resource };
  }

  #addParts({ source, joined: { joins }, pieces, resource }: OpenSource): void {
    const offset = Number(source.epoch + source.clockOffset - this.epoch);
    const firstTrack = this.tracks.length;
    const sourceRow = this.parts.reduce((sum, { count }) => sum + count, 0);
    for (const [i, track] of joins.tracks.entries()) {
      const lanes = joins.laneCounts[i]!;
      const name = threadName(track, resource);
      this.tracks.push({ ...track, name, number: firstTrack + i, source: source.number, lanes });
    }
    const numbers = new TrackNumbers(joins.tracks);
    let firstRow = sourceRow;
    const firstPart = this.parts.length;
    const stored = pieces.flatMap(({ piece, spans }) =>
      piece.parts.map((part) => ({ part, spans })),
    );
    for (const [i, { part, spans }] of stored.entries()) {
      const index = this.parts.length;
      const position: PartPosition = {
        source,
        firstRow,
        offset,
        tracks: numbers.of(part.facts.tracks),
        firstTrack,
        shape: joins.shapes[i]!,
        parents: () => this.#parentsOf(index, sourceRow, joins.parents?.(i)),
      };
      const known = this.#indexed.get(part);
      const indexed = known ?? new IndexedPart(part, position);
      if (known === undefined) this.#indexed.set(part, indexed);
      else known.move(position);
      this.parts.push(indexed);
      this.#spansOf.set(indexed, spans);
      firstRow += part.facts.rows;
    }
    const parts = this.parts.slice(firstPart);
    const inFlight = this.#requests.of(source.number, parts, () => this.answers);
    if (inFlight !== undefined) this.counters.push(inFlight);
    const counters = pieces.flatMap((piece) => piece.counters);
    for (const { thread, name, unit, times, values } of joinCounters(counters)) {
      this.counters.push({
        source: source.number,
        thread,
        name,
        unit,
        times: Float64Array.from(times, (time) => time + offset),
        values: Float64Array.from(values),
      });
    }
  }

  /** Rows of a part and their parents in other parts: within the source, or among all. */
  #parentsOf(
    index: number,
    sourceRow: number,
    pairs: Int32Array | undefined,
  ): ReadonlyMap<number, number> {
    if (this.sources.length > 1 || pairs === undefined)
      return (this.#joined ??= joinParents(this.parts))[index]!;
    const parents = new Map<number, number>();
    for (let at = 0; at < pairs.length; at += 2) {
      parents.set(pairs[at]!, pairs[at + 1]! + sourceRow);
    }
    return parents;
  }
}
