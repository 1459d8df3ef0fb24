import { createHash } from 'node:crypto';
import { entryOf } from '../core/map-entries.js';
import type { RequestEncoder } from '../export/otlp/otlp-protobuf.js';
import { groupSpans } from '../export/otlp/span-batches.js';
import type { RecordedResource, SpanRecord } from '../spans/span-record.js';
import { nameToken } from './name-token.js';
import type { ShipBatch } from './target.js';

/** Characters of a host's name at most. */
const MOST_CHARACTERS = 128;
const UNKNOWN_SERVICE = 'unknown_service';

/** A message: one request of OTLP, of one process. */
export interface NatsMessage {
  subject: string;
  /** Names its spans: the same whenever they are sent together. */
  id: string;
  host: string;
  pid: string;
  spans: number;
  bytes: Buffer;
}

/** A span that is larger than a message may be. */
export class SpanTooLarge extends Error {}

/** Spans of one process, in their order. */
interface ProducerSpans {
  producer: string;
  resource: RecordedResource | undefined;
  spans: SpanRecord[];
  counters: number[];
}

/** A header has no line breaks, and is ASCII. */
const headerText = (text: string): string =>
  text.slice(0, MOST_CHARACTERS).replace(/[^\x20-\x7e]/g, '?');

/**
 * Cuts a batch into messages. The same batch is cut into the same ones.
 *
 * @param mostBytes of a message.
 * @throws SpanTooLarge when a span alone is larger.
 */
export function cutMessages(
  batch: ShipBatch,
  subject: string,
  encoder: RequestEncoder,
  mostBytes: number,
): NatsMessage[] {
  const messages: NatsMessage[] = [];
  const add = (part: ProducerSpans): void => {
    const { spans, counters } = part;
    const bytes = encoder.request(groupSpans(spans));
    if (bytes.length <= mostBytes) {
      messages.push(messageOf(part, subject, bytes));
      return;
    }
    if (spans.length === 1) {
      throw new SpanTooLarge(
        `a span takes ${bytes.length} bytes; the server takes messages of at most ${mostBytes}`,
      );
    }
    const middle = spans.length >> 1;
    add({ ...part, spans: spans.slice(0, middle), counters: counters.slice(0, middle) });
    add({ ...part, spans: spans.slice(middle), counters: counters.slice(middle) });
  };
  for (const part of byProducer(batch)) add(part);
  return messages;
}

/** The spans of each process: a message is of one, so that whoever reads it can choose by subject and headers. */
function byProducer({ spans, producers, counters }: ShipBatch): ProducerSpans[] {
  const parts: ProducerSpans[] = [];
  const known = new Map<string, ProducerSpans[]>();
  let last: ProducerSpans | undefined;
  for (let i = 0; i < spans.length; i++) {
    const span = spans[i]!;
    const producer = producers[i]!;
    const { resource } = span;
    if (last?.producer !== producer || last.resource !== resource) {
      const ofProducer = entryOf(known, producer, () => []);
      last = ofProducer.find((part) => part.resource === resource);
      if (last === undefined) {
        last = { producer, resource, spans: [], counters: [] };
        ofProducer.push(last);
        parts.push(last);
      }
    }
    last.spans.push(span);
    last.counters.push(counters[i]!);
  }
  return parts;
}

function messageOf(part: ProducerSpans, subject: string, bytes: Buffer): NatsMessage {
  const { producer, resource, spans, counters } = part;
  const textOf = (name: string): string => {
    const value = resource?.attributes[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  const service = textOf('service.name') || UNKNOWN_SERVICE;
  const host = headerText(textOf('host.name'));
  const pid = textOf('process.pid');
  // Two hosts may have files of the same path: ids of spans keep their messages apart.
  let names = `${producer}\n${host}\n${pid}\n`;
  for (let i = 0; i < spans.length; i++) {
    const { thread, spanId } = spans[i]!;
    names += `${thread}:${counters[i]!}:${spanId}\n`;
  }
  const id = createHash('sha256').update(names).digest('base64url');
  return {
    subject: `${subject}.${nameToken(service)}`,
    id,
    host,
    pid,
    spans: spans.length,
    bytes,
  };
}
