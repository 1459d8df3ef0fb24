import type { SpanAttributes } from '../attributes.js';
import { RemoteParent } from '../context/remote-parent.js';
import {
  DROPPED_ATTRIBUTES,
  DROPPED_EVENTS,
  DROPPED_LINKS,
  EVENT,
  EVENT_TIME,
  FLAGS,
  LINK,
  LINK_TRACE_LOW,
  NUMBER_MASK,
  OWN_FLAGS,
  PARENT_ID,
  PARENT_REMOTE,
  REAL_END,
  REAL_START,
  RESOURCE_SHIFT,
  SCOPE_NAME,
  SCOPE_VERSION,
  SPAN_ID,
  STATUS_MESSAGE,
  TRACE_FLAGS_MASK,
  TRACE_HIGH,
} from '../layout.js';
import type { Policy } from '../policy.js';
import { REMOTE } from '../span.js';
import type { Span, SpanLink } from '../span.js';
import { timeBetween } from '../time.js';
import type { TraceTime } from '../time.js';
import { SUBSTREAM_OFFSET } from '../../heph/layout.js';
import type { EventWriter } from './event-writer.js';

/** How much of a span that is too large for its target is recorded, the most first. */
interface Portion {
  readonly details: boolean;
  readonly attributes: boolean;
  /** Characters of a text. */
  readonly text: number;
}

export const PORTIONS: readonly Portion[] = [
  { details: true, attributes: true, text: Infinity },
  { details: false, attributes: true, text: Infinity },
  { details: false, attributes: true, text: 256 },
  { details: false, attributes: true, text: 32 },
  { details: false, attributes: false, text: 128 },
  { details: false, attributes: false, text: 12 },
];

/** Where and when a span is recorded. */
export interface Recording {
  readonly stream: number;
  readonly counter: number;
  readonly resource: number;
  /** Nanoseconds since the epoch; undefined: the commit stamps it. */
  readonly end: TraceTime | undefined;
  /** Flags in addition to the span's own. */
  readonly flags: number;
  /** The attributes, encoded, if they are to be recorded as they are. */
  readonly attributes?: Uint8Array | undefined;
}

/**
 * Encodes a span of any content, with its events and links.
 *
 * @returns the bytes of the event, valid until the writer's next one.
 */
export function encodeSpan(
  writer: EventWriter,
  span: Span,
  { stream, counter, resource, end, flags, attributes: encoded }: Recording,
  { limits, redactor }: Policy,
  portion: Portion,
): Buffer {
  const { extras, exactStart: start } = span;
  const name = redactor === undefined ? span.name : redactor.name(span.name, span.attributes);
  writer.maxText = Math.min(portion.text, limits.valueLength);
  writer.cutMark = portion.text < limits.valueLength ? '…' : '';
  writer.begin(stream, counter, cut(name, portion.text, '…'));
  writer.view.setInt32(SUBSTREAM_OFFSET, span.t2);
  writer.view.setInt32(SUBSTREAM_OFFSET + 4, span.t3);
  writer.words(TRACE_HIGH, span.t0, span.t1);
  writer.words(SPAN_ID, span.s0, span.s1);
  writer.words(PARENT_ID, span.p0, span.p1);
  const scope = span.scope & NUMBER_MASK;
  writer.words(FLAGS, span.scope, (span.flags & OWN_FLAGS) | flags | (resource << RESOURCE_SHIFT));

  let dropped = extras?.droppedAttributes ?? 0;
  const put = (attributes: SpanAttributes | undefined, most: number): number => {
    const before = writer.dropped;
    let count = 0;
    for (const each of Object.keys(attributes ?? {})) {
      let value: unknown = attributes![each];
      if (value !== undefined && redactor !== undefined) value = redactor.value(each, value);
      if (value === undefined) continue;
      count++;
      if (count > most) writer.dropped++;
      else writer.attribute(each, value);
    }
    const lost = writer.dropped - before;
    writer.dropped = before;
    return lost;
  };
  if (encoded !== undefined && portion.text === Infinity) writer.encoded(encoded);
  else if (portion.attributes) dropped += put(span.attributes, limits.attributes);
  else dropped += Object.keys(span.attributes ?? {}).length;

  writer.lost = dropped;

  // A commit stamps the end, unless the program gave it. No event of Heph ends before its start.
  const isBackwards = end !== undefined && end < start;
  writer.times(start, isBackwards ? start : (end ?? 0));
  if (start < 0) writer.signed(REAL_START, start);
  if (end !== undefined && (end < 0 || isBackwards)) writer.signed(REAL_END, end);
  if (extras === undefined) {
    if (dropped > 0) writer.unsigned(DROPPED_ATTRIBUTES, dropped);
    return writer.finish();
  }

  const message = redactor === undefined ? extras.message : redactor.message(extras.message);
  if (message !== '') {
    writer.text(STATUS_MESSAGE, cut(message, writer.maxText, writer.cutMark));
  }
  if (extras.scope !== undefined && scope === 0) {
    writer.text(SCOPE_NAME, extras.scope.name);
    if (extras.scope.version !== '') writer.text(SCOPE_VERSION, extras.scope.version);
  }
  const events = extras.events ?? [];
  const links = extras.links ?? [];
  const droppedEvents = extras.droppedEvents + (portion.details ? 0 : events.length);
  const keptLinks = Math.min(links.length, limits.links);
  const droppedLinks = extras.droppedLinks + links.length - (portion.details ? keptLinks : 0);
  if (dropped > 0) writer.unsigned(DROPPED_ATTRIBUTES, dropped);
  if (droppedEvents > 0) writer.unsigned(DROPPED_EVENTS, droppedEvents);
  if (droppedLinks > 0) writer.unsigned(DROPPED_LINKS, droppedLinks);
  if (!portion.details) return writer.finish();

  for (const event of events) {
    writer.text(EVENT, redactor === undefined ? event.name : redactor.name(event.name));
    writer.signed(EVENT_TIME, timeBetween(start, event.time));
    const lost = put(event.attributes, limits.eventAttributes);
    if (lost > 0) writer.unsigned(DROPPED_ATTRIBUTES, lost);
  }
  for (const link of links.slice(0, keptLinks)) {
    putLink(writer, link);
    const lost = put(link.attributes, limits.linkAttributes);
    if (lost > 0) writer.unsigned(DROPPED_ATTRIBUTES, lost);
  }
  return writer.finish();
}

function cut(text: string, most: number, mark: string): string {
  return text.length > most ? text.slice(0, most) + mark : text;
}

function putLink(writer: EventWriter, { to }: SpanLink): void {
  const isRemote = to instanceof RemoteParent;
  if (isRemote && to.parent === undefined) return;
  const [t0, t1, t2, t3] = isRemote ? to.parent!.trace : [to.t0, to.t1, to.t2, to.t3];
  const [s0, s1] = isRemote ? to.parent!.span : [to.s0, to.s1];
  const flags = isRemote ? to.parent!.flags : to.flags & TRACE_FLAGS_MASK;
  const remote = isRemote || to.state === REMOTE ? PARENT_REMOTE : 0;
  writer.words(LINK, t0, t1);
  writer.words(LINK_TRACE_LOW, t2, t3);
  writer.words(SPAN_ID, s0, s1);
  writer.words(FLAGS, 0, flags | remote);
}
