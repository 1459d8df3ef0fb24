import { entryOf } from '../../core/map-entries.js';
import type { SpanRecord } from '../../spans/span-record.js';
import { Lanes } from './lanes.js';
import { drawnName, ENDS_EARLY } from '../../spans/read/drawn-spans.js';
import type { PacketWriter } from '../perfetto/packet-writer.js';
import type { PictureThread } from './picture.js';
import type { SpanFlows } from './span-flows.js';
import { layOut, drawnSpan, writtenEnd, writtenStart } from './span-tree.js';
import type { DrawnSpan } from './span-tree.js';

/** Spans that wait for the root of their trace in the thread: beyond these the oldest group is drawn. */
const MAX_SPANS = 1 << 15;
const MAX_BYTES = 32 << 20;
/** Of larger groups, spans of another root are drawn with the first root. */
const MAX_SORTED = 256;

/** Spans of one trace in one thread. */
interface Group {
  thread: PictureThread;
  zero: bigint;
  spans: SpanRecord[];
  bytes: number;
}

/** Eight hexadecimal digits as a number: a third of the time of parseInt. */
function wordAt(digits: string, from: number): number {
  let word = 0;
  for (let i = from; i < from + 8; i++) {
    const code = digits.charCodeAt(i);
    word = (word << 4) | (code < 0x3a ? code - 0x30 : code - 0x57);
  }
  return word >>> 0;
}

/** An id as its halves. */
function halvesOf(id: string): [high: number, low: number] {
  return [wordAt(id, 0), wordAt(id, 8)];
}

/**
 * Draws spans in groups: those of one trace in one thread, once the span ends that the others descend
 * from. So no span looks like the cause of one that only ran at the same time.
 */
export class GroupedSpans {
  readonly #packets: PacketWriter;
  readonly #flows: SpanFlows;
  readonly #lanes = new Map<PictureThread, Lanes>();
  /** By thread and trace, the oldest first. */
  readonly #groups = new Map<string, Group>();
  #spans = 0;
  #bytes = 0;

  constructor(packets: PacketWriter, flows: SpanFlows) {
    this.#packets = packets;
    this.#flows = flows;
  }

  /**
   * Adds a span.
   *
   * @param zero the moment that is the zero of the picture, in the span's time.
   * @param bytes that it takes in the file.
   */
  add(thread: PictureThread, span: SpanRecord, zero: bigint, bytes: number): void {
    const key = `${thread.track} ${span.traceId}`;
    const isRoot = span.parentSpanId === undefined || span.parentIsRemote;
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { thread, zero, spans: [], bytes: 0 };
      if (!isRoot) this.#groups.set(key, group);
    }
    group.spans.push(span);
    group.bytes += bytes;
    this.#spans++;
    this.#bytes += bytes;
    if (isRoot) {
      this.#drawTree(key, group, span);
      return;
    }
    while (this.#spans > MAX_SPANS || this.#bytes > MAX_BYTES) {
      const [oldest] = this.#groups.entries();
      this.#groups.delete(oldest![0]);
      this.#draw(oldest![1]);
    }
  }

  /** Draws what is left. */
  *end(): Generator<Buffer, void> {
    for (const group of this.#groups.values()) {
      this.#draw(group);
      if (this.#packets.isFull) yield this.#packets.take();
    }
    this.#groups.clear();
  }

  /** Draws a root with its descendants; what descends from another one waits for that. */
  #drawTree(key: string, group: Group, root: SpanRecord): void {
    const { spans } = group;
    const areChildren = spans.every((each) => each === root || each.parentSpanId === root.spanId);
    if (!areChildren && spans.length <= MAX_SORTED) {
      const below = new Set([root.spanId]);
      // In the order of their ends, parents follow their children.
      const others: SpanRecord[] = [];
      for (let i = spans.length - 1; i >= 0; i--) {
        const span = spans[i]!;
        if (span === root || below.has(span.parentSpanId ?? '')) below.add(span.spanId);
        else others.push(span);
      }
      if (others.length > 0) {
        others.reverse();
        const rest = new Set(others);
        const bytes = Math.floor((group.bytes * others.length) / spans.length);
        group.spans = spans.filter((span) => !rest.has(span));
        group.bytes -= bytes;
        this.#groups.set(key, { ...group, spans: others, bytes });
        this.#draw(group);
        return;
      }
    }
    this.#groups.delete(key);
    this.#draw(group);
  }

  #draw({ thread, zero, spans, bytes }: Group): void {
    this.#spans -= spans.length;
    this.#bytes -= bytes;
    const { steps, lanes } = layOut(spans.map((span) => drawnSpan(span, zero)));
    const ofThread = entryOf(this.#lanes, thread, () => new Lanes(() => thread.newLane()));
    const tracks: number[] = [];
    for (const { start, end } of lanes) tracks.push(ofThread.take(start, end));
    for (const { drawn, isEnd } of steps) {
      const track = tracks[drawn.lane]!;
      if (isEnd) this.#packets.endSlice(track, writtenEnd(drawn));
      else this.#begin(track, drawn);
    }
  }

  #begin(track: number, drawn: DrawnSpan): void {
    const packets = this.#packets;
    const { span, within, parent, zero } = drawn;
    packets.beginEvent(false, track, writtenStart(drawn), drawnName(span), span.kind);
    const [high, low] = halvesOf(span.spanId);
    if (!this.#flows.isEmpty) {
      this.#flows.takeOfSpan(high, low, (flowHigh, flowLow) => {
        packets.flow(flowHigh, flowLow);
      });
    }
    // A lane says what is within what. Between lanes of a thread a connection does.
    if (drawn.isApart) packets.flow(high, low);
    for (const child of drawn.childrenApart ?? []) packets.flow(...halvesOf(child.span.spanId));
    annotateSpan(packets, span);
    packets.annotateId('span', high, low);
    if (within === undefined) packets.annotate('trace', span.traceId);
    if (span.parentSpanId !== undefined && (within === undefined || within !== parent)) {
      packets.annotateId('parent', ...halvesOf(span.parentSpanId));
    }
    if (span.start < zero) packets.annotate('began before the picture by (ns)', zero - span.start);
    if (span.end < zero) packets.annotate('ended before the picture by (ns)', zero - span.end);
    packets.endEvent();
  }
}

/** Annotates the slice of a span, next to its ids. */
function annotateSpan(packets: PacketWriter, span: SpanRecord): void {
  const { attributes, kind, status, scope, events, links, dropped } = span;
  for (const name in attributes) packets.annotate(name, attributes[name]);
  if (kind !== 'internal') packets.annotate('kind', kind);
  if (status.code !== 'unset') packets.annotate('status', status.code);
  if (status.message !== '') packets.annotate('message', status.message);
  if (scope !== undefined) packets.annotate('scope', scope.name);
  if (span.traceState !== '') packets.annotate('trace state', span.traceState);
  if (span.unfinished) packets.annotate('unfinished', true);
  if (span.end < span.start) packets.annotate(ENDS_EARLY, span.start - span.end);
  if (events.length > 0) {
    const all = events.map(({ name, time, attributes: own }) => {
      return { name, 'after (ns)': time - span.start, ...own };
    });
    packets.annotate('events', all);
  }
  if (links.length > 0) {
    const all = links.map(({ traceId, spanId, attributes: own }) => {
      return { trace: traceId, span: spanId, ...own };
    });
    packets.annotate('links', all);
  }
  if (dropped.attributes > 0) packets.annotate('dropped attributes', dropped.attributes);
  if (dropped.events > 0) packets.annotate('dropped events', dropped.events);
  if (dropped.links > 0) packets.annotate('dropped links', dropped.links);
}
