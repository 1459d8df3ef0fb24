import { closeSync, readSync } from 'node:fs';
import { TraceFormatError } from '../../core/errors.js';
import { openRegularFile } from '../../core/files/regular-file.js';
import { findingOf, limitFindings, warningOf } from '../../core/finding.js';
import type { CheckOptions, Finding } from '../../core/finding.js';
import { endOfRecords } from '../../core/living/ring-copy.js';
import { ownOptions } from '../../core/options/argument.js';
import { hasPredecessors } from '../file-names.js';
import { DEFINITION_STREAM, EPOCH_OPTION, PACKET_HEAD_BYTES } from '../layout.js';
import type { EventPacket, Packet } from '../packet.js';
import { eventBytes } from './event-bytes.js';
import { PacketCursor } from './packet-cursor.js';
import { EVENT_BYTES } from './packet-head.js';

/** Streams whose counters are followed; of further streams only the packets are checked. */
const MAX_STREAMS = 1 << 20;
const COUNTERS = 2 ** 32;
/** Steps of the counter that are taken for a step back, not for so many missing events. */
const BACKWARDS = 2 ** 31;

/**
 * The buffer of the format's converter to Chrome traces: it is filled when fewer than 128 bytes
 * are left in it, and a packet that is not whole in it then ends the conversion.
 */
const CONVERTER_BUFFER_BYTES = 4096;
const CONVERTER_REFILL_BYTES = 128;
/** How findings name it, and what they add. */
const CONVERTER = "Heph's own converter to Chrome JSON";
const VALID = 'the trace is valid, and `tracewright convert` reads it';

// eslint-disable-next-line no-control-regex -- what JSON does not allow unescaped in a string
const NEEDS_ESCAPE = /["\\\u0000-\u001f]/;

/** How often something was seen, and where first. */
interface Seen {
  count: number;
  offset: number;
}

/**
 * Checks a Heph trace: yields what its readers would refuse (`error`) and what reads otherwise
 * than meant (`warning`), in the order of the file; what concerns the trace as a whole comes last.
 * Memory does not grow with the trace.
 *
 * Errors are `bad-packet` (a packet that violates the format; the check continues after it
 * if its size leads to another packet) and `end-before-start` (which the format's converter
 * dies of). Warnings: `counter-gap` and `counter-repeat` for each point where a stream's counter is
 * not the one before plus 1, `too-many-streams`, `no-epoch`, `late-epoch`, `second-epoch`,
 * `no-events`, and one `converter-…` for each thing that is right by the format but that its
 * converter cannot read, with the count and the first offset. Findings of one rule beyond `repeats`
 * are counted and given as one at the end.
 *
 * @throws TracewrightError `ERR_SYSTEM` when the file cannot be read.
 */
export function checkTrace(path: string, options: CheckOptions = {}): Generator<Finding, void> {
  return checkPackets(path, ownOptions(options, ['onProgress', 'repeats']), undefined);
}

/** A check that a layer above makes of events. */
export interface EventCheck {
  /** Rule of its findings. */
  rule: string;
  /** The fault of the cursor's event, which is right by the format; undefined: none. */
  faultOf(cursor: PacketCursor): TraceFormatError | undefined;
}

/** As `checkTrace`, with what a layer above requires: what that refuses is an error. */
export function* checkPackets(
  path: string,
  options: CheckOptions,
  events: EventCheck | undefined,
): Generator<Finding, void> {
  const cursor = new PacketCursor(path, options);
  try {
    yield* limitFindings(new TraceCheck(path, cursor, events).findings(), path, options.repeats);
  } finally {
    cursor.close();
  }
}

class TraceCheck {
  readonly #path: string;
  readonly #cursor: PacketCursor;
  readonly #eventCheck: EventCheck | undefined;
  /** The counter that the next event of a stream should have. */
  readonly #expected = new Map<number, number>();
  #tooManyStreams = false;
  #events = 0;
  #eventsBeforeEpoch = 0;
  #epoch: { value: bigint; end: number } | undefined;
  /** Bytes in the converter's buffer, and how many of the file it has taken in. */
  #buffered = 0;
  #taken = 0;
  readonly #large: Seen = { count: 0, offset: 0 };
  readonly #arrays: Seen = { count: 0, offset: 0 };
  readonly #unescaped: Seen = { count: 0, offset: 0 };
  readonly #notFinite: Seen = { count: 0, offset: 0 };
  readonly #options: Seen = { count: 0, offset: 0 };

  constructor(path: string, cursor: PacketCursor, eventCheck: EventCheck | undefined) {
    this.#path = path;
    this.#cursor = cursor;
    this.#eventCheck = eventCheck;
  }

  *findings(): Generator<Finding, void> {
    const cursor = this.#cursor;
    for (;;) {
      let packet: Packet | undefined;
      try {
        if (!cursor.next()) break;
      } catch (error) {
        if (!(error instanceof TraceFormatError)) throw error;
        const left = cursor.fileSize - cursor.offset;
        const passed = cursor.passOver();
        const rest =
          passed === undefined ? `the last ${left} bytes of the file` : `${passed} bytes`;
        yield this.#error('bad-packet', `${error.fault}; ${rest} were not checked`, error.offset);
        if (passed === undefined) break;
        continue;
      }
      this.#throughConverterBuffer();
      try {
        packet = cursor.packet();
      } catch (error) {
        yield findingOf('bad-packet', error);
        continue;
      }
      if (packet.kind === 'event') yield* this.#event(packet);
      else if (packet.epoch === undefined) note(this.#options, packet.offset);
      else yield* this.#epochPacket(packet.epoch, packet.offset + packet.size, packet.offset);
    }
    yield* this.#whole();
    yield* this.#converter();
  }

  *#event(event: EventPacket): Generator<Finding, void> {
    this.#events++;
    const fault = this.#eventCheck?.faultOf(this.#cursor);
    if (fault !== undefined) {
      yield this.#error(this.#eventCheck!.rule, fault.fault, event.offset);
    }
    if (this.#epoch === undefined) this.#eventsBeforeEpoch++;
    if (event.end < event.start) {
      const message = `the event ends at ${event.end.toString()} ns, before it starts at ${event.start.toString()} ns`;
      yield this.#error('end-before-start', message, event.offset);
    }
    if (event.stream !== DEFINITION_STREAM) yield* this.#counter(event);
    let unescaped = NEEDS_ESCAPE.test(event.description);
    for (const { name, type, value } of event.attributes) {
      if (type.endsWith('[]')) note(this.#arrays, event.offset);
      if (type === 'f64' && !Number.isFinite(value)) note(this.#notFinite, event.offset);
      unescaped ||= NEEDS_ESCAPE.test(name) || (type === 'string' && NEEDS_ESCAPE.test(value));
    }
    if (unescaped) note(this.#unescaped, event.offset);
  }

  *#counter({ stream, counter, offset }: EventPacket): Generator<Finding, void> {
    let expected = this.#expected.get(stream);
    if (expected === undefined) {
      if (this.#expected.size >= MAX_STREAMS) {
        if (this.#tooManyStreams) return;
        this.#tooManyStreams = true;
        const message = `there are more than ${MAX_STREAMS} streams; the counters of stream ${stream} and of further ones were not checked`;
        yield this.#warning('too-many-streams', message, offset);
        return;
      }
      // Earlier pieces of the trace can contain the stream's earlier events.
      expected = hasPredecessors(this.#path) ? counter : 0;
    }
    this.#expected.set(stream, (counter + 1) % COUNTERS);
    if (counter === expected) return;
    const missing = (counter - expected + COUNTERS) % COUNTERS;
    if (missing < BACKWARDS) {
      const events = missing === 1 ? '1 event is' : `${missing} events are`;
      const message = `${events} missing in stream ${stream}: its counter is ${counter}, not ${expected}`;
      yield this.#warning('counter-gap', message, offset);
    } else {
      const message = `the counter of stream ${stream} goes back: it is ${counter}, not ${expected}`;
      yield this.#warning('counter-repeat', message, offset);
    }
  }

  *#epochPacket(value: bigint, end: number, offset: number): Generator<Finding, void> {
    if (this.#epoch === undefined) {
      if (this.#events > 0) {
        const message = `${this.#eventsBeforeEpoch} events precede the epoch that their times count from`;
        yield this.#warning('late-epoch', message, offset);
      }
    } else if (this.#epoch.value !== value) {
      const message = `the epoch is set to ${value.toString()} ns; it was ${this.#epoch.value.toString()} ns before`;
      yield this.#warning('second-epoch', message, offset);
    }
    this.#epoch = { value, end };
  }

  *#whole(): Generator<Finding, void> {
    if (this.#epoch === undefined) {
      yield this.#warning('no-epoch', `no metadata packet sets the option "${EPOCH_OPTION}"`);
    }
    if (this.#events === 0) yield this.#warning('no-events', 'the trace holds no events');
  }

  *#converter(): Generator<Finding, void> {
    const because = (what: string, { count, offset }: Seen, rule: string): Finding[] =>
      count === 0
        ? []
        : [this.#warning(`converter-${rule}`, `${what} (first of ${count}); ${VALID}`, offset)];
    yield* because(
      `a packet does not fit into the buffer of ${CONVERTER}, which ends there`,
      this.#large,
      'buffer',
    );
    yield* because(`${CONVERTER} does not read arrays`, this.#arrays, 'array');
    yield* because(`${CONVERTER} knows no option but "${EPOCH_OPTION}"`, this.#options, 'option');
    yield* because(
      `${CONVERTER} does not escape quotes, backslashes and control characters`,
      this.#unescaped,
      'escape',
    );
    yield* because(
      `${CONVERTER} writes NaN and infinity, which JSON does not have`,
      this.#notFinite,
      'not-finite',
    );
    if (this.#epoch?.end === this.#cursor.fileSize) {
      const message = `${CONVERTER} fails on an epoch with nothing after it`;
      yield this.#warning('converter-last-epoch', `${message}; ${VALID}`);
    }
  }

  /** Follows what the converter's buffer holds, from packet to packet. */
  #throughConverterBuffer(): void {
    const { size, offset, fileSize } = this.#cursor;
    if (this.#large.count > 0) {
      // It stopped before. Packets that are too large for it anywhere are still counted.
      if (size > CONVERTER_BUFFER_BYTES) this.#large.count++;
      return;
    }
    if (this.#buffered < CONVERTER_REFILL_BYTES) {
      const more = Math.min(CONVERTER_BUFFER_BYTES - this.#buffered, fileSize - this.#taken);
      this.#buffered += more;
      this.#taken += more;
    }
    if (size > this.#buffered) note(this.#large, offset);
    this.#buffered -= size;
  }

  #error(rule: string, message: string, offset: number): Finding {
    return { severity: 'error', rule, message, path: this.#path, offset };
  }

  #warning(rule: string, message: string, offset?: number): Finding {
    return warningOf(this.#path, rule, message, offset);
  }
}

function note(seen: Seen, offset: number): void {
  if (seen.count === 0) seen.offset = offset;
  seen.count++;
}

const TAIL_BYTES = 1 << 16;

/**
 * Ensures that a file which no ring completes ends where a packet ends. What lies before its last packets is only
 * read if these do not show it.
 *
 * @throws TraceFormatError when it has lost its end, or is damaged.
 */
export function checkEndOfFile(path: string): void {
  const { fd, size } = openRegularFile(path, 'followed');
  try {
    if (endsWithPackets(fd, size)) return;
  } finally {
    closeSync(fd);
  }
  const cursor = new PacketCursor(path);
  try {
    while (cursor.next());
  } catch (error) {
    if (!(error instanceof TraceFormatError)) throw error;
    const message = `the file has lost its end, or is damaged: ${error.fault}`;
    throw new TraceFormatError(path, error.offset, message, { field: 'size' });
  } finally {
    cursor.close();
  }
}

/** Whether packets that follow each other end with the file. */
function endsWithPackets(fd: number, size: number): boolean {
  const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
  readSync(fd, tail, 0, tail.length, size - tail.length);
  for (let at = 0; (at = tail.indexOf(EVENT_BYTES, at)) !== -1; at += EVENT_BYTES.length) {
    at += endOfRecords(tail.subarray(at), PACKET_HEAD_BYTES, eventBytes);
    if (at === tail.length) return true;
  }
  return false;
}
