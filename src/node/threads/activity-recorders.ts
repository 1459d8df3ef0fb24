import { isMainThread } from 'node:worker_threads';
import { MemoryGroup } from '../../core/memory-group.js';
import { noteHeap } from '../../core/native-calls.js';
import { version } from '../../core/version.js';
import {
  COLLECTIONS_DESCRIPTION,
  COLLECTIONS_LIST,
  LOOP_BUSY,
  LOOP_CALLING,
  LOOP_CALLS,
  LOOP_COLLECTIONS,
  LOOP_DELAY,
  LOOP_DESCRIPTION,
  LOOP_DNS,
  LOOP_EXTERNAL,
  LOOP_GC,
  LOOP_GROUP,
  LOOP_HEAP,
  LOOP_HEAP_LIMIT,
  LOOP_KILLS,
  LOOP_LOOK_UPS,
  LOOP_LONGEST,
  LOOP_RSS,
  LOOP_TURNS,
  PROFILE_DESCRIPTION,
  PROFILE_FRAMES,
  PROFILE_INTERVAL,
  PROFILE_LINES,
  PROFILE_NODES,
  PROFILE_SAMPLES,
  PROFILE_SIZES,
  PROFILE_SPANS,
} from '../../spans/layout.js';
import type { SpanAttributes } from '../../spans/attributes.js';
import type { ActiveContext } from '../../spans/context/active-context.js';
import { Scope } from '../../spans/scope.js';
import { spans } from '../../spans/shared-spans.js';
import type { Span } from '../../spans/span.js';
import type { ThreadSpans } from '../../spans/thread-spans.js';
import { originalFrames, originalLines } from './compiled-frames.js';
import {
  INCREMENTAL,
  MAJOR,
  MINOR,
  MINOR_MARK_SWEEP,
  STALL_CAUSES,
  WEAK_CALLBACKS,
} from './pauses.js';
import type { Collection, Stall } from './pauses.js';

/** How often something happened, and the nanoseconds that it took together. */
export interface TimeSums {
  ns: number;
  count: number;
}

/** The work of an event loop within a window. All in nanoseconds but for the number of turns. */
interface LoopSample {
  /** Of CLOCK_MONOTONIC, as is `to`. */
  from: number;
  to: number;
  /** Time in which it ran code. */
  busy: number;
  turns: number;
  /** Of all turns. */
  longest: number;
  /** The mean wait of an event at a random moment. */
  delay: number;
}

const NAME = 'event loop blocked';
const CAUSE = 'eventloop.cause';
const CPU = 'eventloop.cpu_ms';
const OPEN_SPANS = 'eventloop.open_spans';
/** OpenTelemetry's name: the stack that was found most often. */
const STACK = 'code.stacktrace';
/** All of them, if there are several, and how often each was found. */
const STACKS = 'eventloop.stacks';
const STACK_COUNTS = 'eventloop.stack_counts';
/** The name of the request whose code ran, as it was then. */
const REQUEST = 'eventloop.request';

const WAIT = STALL_CAUSES.indexOf('wait');
const DEBUGGER = STALL_CAUSES.indexOf('debugger');
/** The causes that native code knows. */
const NATIVE_CAUSES = STALL_CAUSES.slice(0, DEBUGGER);

/** Of a part of a profile: texts, after two times. */
const PART = 7;

const LOOP_SCOPE = new Scope('tracewright/event-loop', version);

/** It takes 30 to 50 µs. */
function memoryOfThread(): [string, number][] {
  const { heapUsed, external, rss } = process.memoryUsage();
  if (isMainThread) noteHeap(heapUsed);
  const own: [string, number][] = [
    [LOOP_HEAP, heapUsed],
    [LOOP_HEAP_LIMIT, process.getBuiltinModule('node:v8').getHeapStatistics().heap_size_limit],
    [LOOP_EXTERNAL, external],
  ];
  if (!isMainThread) return own;
  own.push([LOOP_RSS, rss]);
  const group = MemoryGroup.own()?.read();
  return group === undefined ? own : [...own, [LOOP_GROUP, group.used], [LOOP_KILLS, group.kills]];
}

function stackAttributes(stacks: readonly (string | number)[]): SpanAttributes {
  if (stacks.length === 0) return {};
  const texts = stacks.filter((each) => typeof each === 'string').map(originalFrames);
  const counts = stacks.filter((each) => typeof each === 'number');
  if (texts.length === 1) return { [STACK]: texts[0] };
  return { [STACK]: texts[0], [STACKS]: texts, [STACK_COUNTS]: counts };
}

/** The request, or other topmost span, that was active most often; undefined: none was. */
function activeRequest(contexts: readonly (object | number)[]): Span | undefined {
  const counts = new Map<Span, number>();
  for (let at = 0; at < contexts.length; at += 2) {
    const context = spans.contextOfFrame(contexts[at] as object) as ActiveContext | undefined;
    const root = context?.activeSpan?.root;
    if (root === undefined || root.name === '') continue;
    counts.set(root, (counts.get(root) ?? 0) + (contexts[at + 1] as number));
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most?.[0];
}

/** A thread that sleeps while its inspector is open may be at a breakpoint. */
function isInspected(): boolean {
  return process.getBuiltinModule('node:inspector').url() !== undefined;
}

/** Records what kept the event loop of the calling thread from turning, and how busy it is. */
export class LoopRecorder {
  #spans: ThreadSpans | undefined;

  /** Whether no span of the thread is open, as far as is known. */
  get isIdle(): boolean {
    return !spans.isOpen() || (this.#threadSpans()?.isIdle ?? true);
  }

  /** Opens the thread's stream of spans, unless it is open or cannot be opened now. */
  open(): void {
    this.#threadSpans();
  }

  /** Has a stall that never ends recorded while it lasts. */
  prepare(): void {
    this.#threadSpans()?.prepareStall(NAME, {
      cause: CAUSE,
      causes: NATIVE_CAUSES,
      stack: STACK,
    });
  }

  /** The thread runs since `from`, in nanoseconds of CLOCK_MONOTONIC. */
  recordLife(from: number): void {
    this.#threadSpans()?.recordLife(from);
  }

  /** Has it recorded if the process runs out of heap. */
  prepareHeapEnd(): void {
    this.#threadSpans()?.prepareHeapEnd();
  }

  /** @param parts as `takeProfile` returns them. */
  recordProfile(interval: number, parts: readonly (number | string)[]): void {
    const output = this.#threadSpans();
    for (let at = 0; at + PART <= parts.length; at += PART) {
      type Part = [number, number, string, string, string, string, string];
      const [from, to, frames, nodes, samples, ids, lines] = parts.slice(at, at + PART) as Part;
      const values = [
        [PROFILE_INTERVAL, interval],
        [PROFILE_FRAMES, originalFrames(frames)],
        [PROFILE_NODES, nodes],
        [PROFILE_SAMPLES, samples],
        [PROFILE_SPANS, ids],
        [PROFILE_LINES, originalLines(lines, frames, nodes)],
      ] as const;
      output?.recordNote(PROFILE_DESCRIPTION, values, from, to);
    }
  }

  /** @param part as `takeHeapProfile` returns it. */
  recordAllocations([at, , frames, nodes, sizes]: readonly (number | string)[]): void {
    const values = [
      [PROFILE_FRAMES, originalFrames(frames as string)],
      [PROFILE_NODES, nodes!],
      [PROFILE_SIZES, sizes!],
    ] as const;
    this.#threadSpans()?.recordNote(PROFILE_DESCRIPTION, values, at as number, at as number);
  }

  /** A stall has ended. */
  record({ from, to, cpu, cause, recorded, stacks, contexts }: Stall): void {
    const by = cause === WAIT && isInspected() ? DEBUGGER : cause;
    const output = this.#threadSpans();
    if (output === undefined) return;
    const request = activeRequest(contexts);
    const attributes = {
      [CAUSE]: STALL_CAUSES[by]!,
      [CPU]: cpu / 1e6,
      [OPEN_SPANS]: output.openSpans,
      ...(request === undefined ? {} : { [REQUEST]: request.name }),
      ...stackAttributes(stacks),
    };
    if (!recorded) {
      output.record(NAME, attributes, from, to, request);
      return;
    }
    output.recordStall(NAME, attributes, from, to, request);
    this.prepare();
  }

  /**
   * @param collections those since the last sample; undefined: they are not observed.
   * @param lookUps those since the last sample; undefined: there were none, or they are not observed.
   * @param calls of libraries that no span asked for; undefined: there were none.
   */
  sample(
    { from, to, busy, turns, longest, delay }: LoopSample,
    collections: TimeSums | undefined,
    lookUps: TimeSums | undefined,
    calls: TimeSums | undefined,
  ): void {
    const values: [string, number][] = [
      [LOOP_BUSY, busy],
      [LOOP_TURNS, turns],
      [LOOP_LONGEST, longest],
      [LOOP_DELAY, delay],
    ];
    if (collections !== undefined) {
      values.push([LOOP_GC, collections.ns], [LOOP_COLLECTIONS, collections.count]);
    }
    if (lookUps !== undefined) {
      values.push([LOOP_DNS, lookUps.ns], [LOOP_LOOK_UPS, lookUps.count]);
    }
    if (calls !== undefined) values.push([LOOP_CALLING, calls.ns], [LOOP_CALLS, calls.count]);
    values.push(...memoryOfThread());
    this.#threadSpans()?.recordCounters(LOOP_DESCRIPTION, values, from, to);
  }

  #threadSpans(): ThreadSpans | undefined {
    if (this.#spans === undefined) {
      const opened = spans.openThreadSpans(LOOP_SCOPE);
      // To open them calls back.
      this.#spans ??= opened;
    }
    return this.#spans;
  }
}

/** OpenTelemetry's name of the attribute, and its values. */
const TYPE = 'v8js.gc.type';
const TYPES: ReadonlyMap<number, string> = new Map([
  [MINOR, 'minor'],
  [MINOR_MARK_SWEEP, 'minor'],
  [MAJOR, 'major'],
  [INCREMENTAL, 'incremental'],
  [WEAK_CALLBACKS, 'weakcb'],
]);

const COLLECTION_SCOPE = new Scope('tracewright/gc', version);

/** Records garbage collections of the calling thread. */
export class CollectionRecorder {
  #spans: ThreadSpans | undefined;

  /** As a span. */
  record({ from, to, kind }: Collection): void {
    const type = typeOf(kind);
    this.#threadSpans()?.record(`gc ${type}`, { [TYPE]: type }, from, to);
  }

  /** As one event. @param collections not empty, in their order. */
  recordAll(collections: readonly Collection[]): void {
    const first = collections[0]!.from;
    const list = collections.map(
      ({ from, to, kind }) => `${from - first}:${to - from}:${typeOf(kind)}`,
    );
    const end = collections.at(-1)!.to;
    this.#threadSpans()?.recordNote(
      COLLECTIONS_DESCRIPTION,
      [[COLLECTIONS_LIST, list.join()]],
      first,
      end,
    );
  }

  #threadSpans(): ThreadSpans | undefined {
    this.#spans ??= spans.openThreadSpans(COLLECTION_SCOPE);
    return this.#spans;
  }
}

function typeOf(kind: number): string {
  return TYPES.get(kind) ?? String(kind);
}
