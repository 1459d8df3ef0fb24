import { MAX_DEPTH } from '../mark-stacks.js';
import { TraceFormatError } from '../../core/errors.js';
import type { TraceDefinitions } from './check-metadata.js';
import { ThreadRegions } from './check-regions.js';
import { judgePayload } from '../signature.js';
import type { FindingCollector, Rule } from './finding-collector.js';
import { codeOf, JUMBO_DATA_OFFSET, MAX_LABEL_BYTES } from '../layout.js';
import { OrderedReader, openInOrder } from './ordered-reader.js';
import {
  FLUSH_BEGIN,
  FLUSH_END,
  MARK_PUSH,
  MARK_POP,
  MARK_SET,
  PROGRESS_EVENTS,
} from './reader.js';
import type { StreamEvent, StreamReader } from './reader.js';
import { isActive, transitionOf } from '../thread-state.js';
import type { ThreadState } from '../thread-state.js';
import type { ThreadStream } from './trace-directory.js';
import { clockOrder } from './clock-offsets.js';
import { activity, kindOf } from './event-kinds.js';
import type { Kind } from './event-kinds.js';

/** The emulator keeps sizes in an i32, in which larger ones are negative. */
const JUMBO_LIMIT = 2 ** 31 - JUMBO_DATA_OFFSET;

const OHX = codeOf('OHx');
const OAS = codeOf('OAs');
const OAR = codeOf('OAr');
const OCN = codeOf('OCn');
const SWITCHED_OUT = codeOf('KCO');
const SWITCHED_IN = codeOf('KCI');
const COUNTERS = codeOf('VWC');
const OVNI = 'O'.charCodeAt(0);

/** Facts of a stream for the rest of the check. */
export interface StreamSummary {
  readonly stream: ThreadStream;
  readonly events: number;
  /** Clock of the first event with the host's offset; undefined for a stream without events. */
  readonly firstClock: bigint | undefined;
  /** Whether an event put a thread on a physical CPU, moved one from another thread, or ran a task. */
  readonly needsOrder: boolean;
}

/** Follows one stream through the rules that do not depend on other streams. */
class StreamCheck {
  readonly #stream: ThreadStream;
  readonly #definitions: TraceDefinitions;
  readonly #out: FindingCollector;
  readonly #cpuCount: number;
  readonly #kinds = new Map<number, Kind>();
  readonly #stacks = new Map<number, bigint[]>();
  readonly #regions = new ThreadRegions();
  #state: ThreadState = 'unknown';
  #flushing = false;
  #switchedOut = false;
  #offset = 0;
  needsOrder = false;

  constructor(stream: ThreadStream, definitions: TraceDefinitions, out: FindingCollector) {
    this.#stream = stream;
    this.#definitions = definitions;
    this.#out = out;
    this.#cpuCount = definitions.cpuCounts.get(stream.loom) ?? 0;
  }

  event(event: StreamEvent): void {
    const { code } = event;
    this.#offset = event.offset;
    let kind = this.#kinds.get(code);
    if (kind === undefined) {
      kind = kindOf(code);
      // A hostile stream can have 2^24 of them.
      if (this.#kinds.size < 4096) this.#kinds.set(code, kind);
    }
    if (event.dataBytes >= JUMBO_LIMIT) {
      this.#report('jumbo-size', () => `jumbo data of ${event.dataBytes} bytes`);
    }
    if (!this.#allowed(event, kind)) return;
    if (code >>> 16 === OVNI) this.#ovni(event);
    else if (code === SWITCHED_OUT || code === SWITCHED_IN) this.#switch(event);
    else {
      this.#regions.event(code, this.#reportRegion);
      if (kind.task) this.needsOrder = true;
      else if (code === COUNTERS) this.#countersFit(event.dataBytes);
    }
  }

  end(events: number): void {
    const { path } = this.#stream;
    if (events === 0) {
      this.#out.report('empty-stream', path, `thread ${this.#stream.tid} has no events`);
    } else if (this.#state !== 'dead') {
      this.#out.report(
        'thread-not-ended',
        path,
        `thread ${this.#stream.tid} is ${this.#state} at the end of its stream; the last state event must be OHe`,
      );
    }
    for (const [type, stack] of this.#stacks) {
      if (stack.length === 0) continue;
      this.#out.report(
        'mark-left',
        path,
        `mark type ${type} has ${stack.length} values left at the end of the stream`,
      );
    }
    for (const [name, stack] of this.#regions.left()) {
      this.#out.report(
        'region-left',
        path,
        () =>
          `${stack.length} ${name} left at the end of the stream, the last one of ${stack.at(-1)!}`,
      );
    }
  }

  readonly #reportRegion = (message: () => string): void => {
    this.#report('region', message);
  };

  #countersFit(bytes: number): void {
    const { counters } = this.#definitions;
    if (counters > 0 && bytes === 8 * counters) return;
    this.#report('counters', () =>
      counters === 0
        ? 'VWC, but no thread names counters in nosv.hwc of its metadata'
        : `VWC has ${bytes} bytes; the metadata name ${counters} counters of 8 bytes`,
    );
  }

  #report(rule: Rule, message: string | (() => string)): void {
    this.#out.report(rule, this.#stream.path, message, this.#offset);
  }

  /** Whether the emulator would look at the event: its model, its declaration, its payload. */
  #allowed(event: StreamEvent, kind: Kind): boolean {
    const { required } = this.#definitions;
    const { mcv } = event;
    const { model } = kind;
    if (model === undefined) {
      if (required !== undefined) {
        this.#report(
          'unknown-model',
          () => `no model has the letter of event ${JSON.stringify(mcv)}`,
        );
      }
      return false;
    }
    if (required?.has(model) === false) {
      this.#report(
        'model-not-required',
        () => `event ${mcv} is of model ${model}, which no thread of the trace requires`,
      );
      return false;
    }
    // The emulator of version 1 has other declarations than these.
    if (this.#stream.version === 1 && model !== 'ovni') return false;
    if (!kind.declared) {
      // The emulator reads any value of these two categories as the declared one.
      if (mcv.startsWith('OU') || mcv.startsWith('OB')) {
        this.#report('ignored-event', () => `event ${JSON.stringify(mcv)} is not declared`);
        return true;
      }
      this.#report(
        this.#undeclaredRule(mcv),
        () => `model ${model} declares no ${JSON.stringify(mcv)}`,
      );
      return false;
    }
    if (this.#switchedOut && (model === 'ovni' || model === 'nosv')) {
      this.#report('out-of-cpu', () => `${mcv} while the kernel has the thread switched out`);
    }
    if (activity[model] !== 'any') this.#checkActivity(mcv, activity[model] === 'running');
    return this.#payloadFits(event, kind);
  }

  /** Version 1 ignores what it does not know, except in these two categories. */
  #undeclaredRule(mcv: string): Rule {
    if (this.#stream.version === 1) {
      if (mcv.startsWith('OH')) return 'thread-state';
      if (mcv.startsWith('OF')) return 'flush';
    }
    return 'undeclared-event';
  }

  #checkActivity(mcv: string, running: boolean): void {
    const state = this.#state;
    if (running ? state === 'running' : isActive(state)) return;
    this.#report(
      'thread-not-active',
      () => `${mcv} while the thread is ${state}; it must be ${running ? 'running' : 'active'}`,
    );
  }

  #payloadFits(event: StreamEvent, kind: Kind): boolean {
    const { mcv, jumbo } = event;
    const bytes = jumbo ? event.dataBytes : event.payloadBytes;
    if (kind.jumbo === jumbo && bytes === kind.bytes) return true;
    if (kind.labelled && bytes - kind.bytes > MAX_LABEL_BYTES) {
      this.#report(
        'label-length',
        () =>
          `the label of ${mcv} has ${bytes - kind.bytes} bytes, at most ${MAX_LABEL_BYTES} are read`,
      );
      return false;
    }
    const { version } = this.#stream;
    const verdict = judgePayload(mcv, kind, { jumbo, bytes }, version);
    if (verdict === 'declared') return true;
    this.#report(verdict === 'extra' ? 'payload-extra' : 'payload', () => {
      if (kind.bytes === 0) return `${mcv} has a payload; it is declared without arguments`;
      if (kind.jumbo !== jumbo) return `${mcv} must ${kind.jumbo ? '' : 'not '}be a jumbo event`;
      return `${mcv} has ${bytes} bytes of arguments; ${kind.bytes} are declared`;
    });
    // Version 1 ignores marks, so their payloads may be too short.
    return verdict === 'extra' && !(mcv.startsWith('OM') && bytes < kind.bytes);
  }

  #ovni(event: StreamEvent): void {
    const { code } = event;
    const transition = transitionOf(code);
    if (transition !== undefined) {
      const version1 = this.#stream.version === 1;
      if (
        !transition.from.includes(this.#state) ||
        (version1 && transition.mcv === 'OHe' && this.#state === 'cooling')
      ) {
        const from = this.#state;
        this.#report(
          'thread-state',
          () =>
            `${transition.mcv} while the thread is ${from}; it must be ${transition.from.join(' or ')}`,
        );
      }
      this.#state = transition.to;
      if (code === OHX) this.#checkCpu(event);
      return;
    }
    switch (code) {
      case OAS:
        if (!isActive(this.#state)) {
          const state = this.#state;
          this.#report('affinity', () => `OAs while the thread is ${state}; it must be active`);
        }
        this.#checkCpu(event);
        break;
      case OAR:
        this.#checkCpu(event);
        this.needsOrder = true;
        break;
      case FLUSH_BEGIN:
      case FLUSH_END: {
        const begins = code === FLUSH_BEGIN;
        if (this.#flushing === begins) {
          this.#report('flush', begins ? 'OF[ inside a flush' : 'OF] without an OF[ before it');
        }
        this.#flushing = begins;
        break;
      }
      case MARK_PUSH:
      case MARK_POP:
      case MARK_SET:
        this.#mark(event);
        break;
      case OCN:
        this.#report('ignored-event', 'OCn is from old traces; the emulator ignores it');
        break;
    }
  }

  #checkCpu(event: StreamEvent): void {
    const cpu = event.i32(0);
    // In version 1 any negative index is the virtual CPU.
    if (cpu === -1 || (cpu < 0 && this.#stream.version === 1)) return;
    if (cpu >= 0 && cpu < this.#cpuCount) {
      this.needsOrder = true;
      return;
    }
    this.#report('cpu-unknown', () => {
      const last = this.#cpuCount - 1;
      const has = last < 0 ? 'no CPUs of its own' : last === 0 ? 'CPU 0' : `CPUs 0 to ${last}`;
      return `${event.mcv} names CPU ${cpu}; the loom has ${has}, and the virtual CPU -1`;
    });
  }

  #mark(event: StreamEvent): void {
    const { marks } = this.#definitions;
    if (marks === undefined) return;
    const value = event.i64(0);
    const type = event.i32(8);
    const channel = marks.get(type);
    if (channel === undefined) {
      this.#report('mark', `mark type ${type} is not defined in the metadata of any thread`);
      return;
    }
    if (value === 0n) {
      this.#report('mark', `a mark of type ${type} with the value 0`);
      return;
    }
    if ((event.code === MARK_SET) !== (channel === 'single')) {
      this.#report(
        'mark',
        () =>
          `${event.mcv} on mark type ${type}, which is ${channel === 'single' ? 'single' : 'a stack'}`,
      );
      return;
    }
    if (channel === 'single') return;
    let stack = this.#stacks.get(type);
    if (stack === undefined) this.#stacks.set(type, (stack = []));
    if (event.code === MARK_PUSH) {
      if (stack.length === MAX_DEPTH) {
        this.#report('mark', `more than ${MAX_DEPTH} values of mark type ${type} at a time`);
      } else {
        stack.push(value);
      }
      return;
    }
    const top = stack.pop();
    if (top !== value) {
      this.#report(
        'mark',
        `pop of value ${value} of mark type ${type}, but ${top === undefined ? 'nothing is pushed' : `${top} is on top`}`,
      );
    }
  }

  #switch(event: StreamEvent): void {
    const out = event.code === SWITCHED_OUT;
    if (this.#switchedOut === out) {
      this.#report(
        'out-of-cpu',
        `${event.mcv} although the thread is ${out ? 'out' : 'in'} already`,
      );
    }
    this.#switchedOut = out;
  }
}

/**
 * Checks one stream by itself: its framing, its clocks, and every event against the state of its
 * thread. `progress` is given the bytes read so far from time to time.
 */
export function checkStream(
  stream: ThreadStream,
  clockOffset: bigint,
  definitions: TraceDefinitions,
  out: FindingCollector,
  progress: (bytes: number) => void,
): StreamSummary {
  const check = new StreamCheck(stream, definitions, out);
  let events = 0;
  let firstClock: bigint | undefined;
  let reader: StreamReader | undefined;
  try {
    // No rule depends on jumbo data.
    reader = openInOrder(stream.path, { version: stream.version, maxDataBytes: 0 });
    if (!reader.littleEndian) {
      out.report(
        'stream',
        stream.path,
        'the stream is big-endian; the emulator reads little-endian streams only',
        0,
      );
    }
    const { event } = reader;
    const before = clockOrder(clockOffset);
    while (reader.next()) {
      if (events === 0) firstClock = BigInt.asIntN(64, event.clock + clockOffset);
      if (before(event)) {
        out.report(
          'clock-backwards',
          stream.path,
          () => `the clock goes back to ${event.clock} (${event.mcv})`,
          event.offset,
        );
      }
      check.event(event);
      events += 1;
      if (events % PROGRESS_EVENTS === 0) progress(reader.offset);
    }
    for (const offset of reader instanceof OrderedReader ? reader.moved : []) {
      const message =
        'an event of a region (OU[ to OU]) is earlier than events before it: run ovnisort on the trace';
      out.report('unordered-region', stream.path, message, offset);
    }
    check.end(events);
  } catch (error) {
    if (!(error instanceof TraceFormatError)) throw error;
    out.report('stream', error.path, error.fault, error.offset);
  } finally {
    reader?.close();
  }
  return { stream, events, firstClock, needsOrder: check.needsOrder };
}
