import { entryOf } from '../../core/map-entries.js';
import { framesOf } from '../../spans/read/profile-part.js';
import type { LookIndex } from '../../look/index/look-index.js';
import { inTurns } from '../../look/index/turns.js';
import { lastAllocations } from '../../look/report/threads/allocations.js';
import { requestsOfSamples } from '../../look/report/threads/sampled-requests.js';
import { STACK, frameOf } from '../../look/report/threads/stall-code.js';
import { attributesOf } from '../../look/report/names/recorded-attributes.js';
import { rowAt } from '../../look/index/index-row.js';

/** A function on a stack. */
export interface StackFrame {
  readonly name: string;
  /** Empty: it is no script's. */
  readonly file: string;
  /** From 1; 0: unknown. */
  readonly line: number;
}

/** A stack that a thread had. */
interface SampledStack {
  /** The outermost first: the name of the request that it belongs to, where one is known. */
  readonly frames: readonly StackFrame[];
  /** Ns since the start of the recording. */
  readonly time: number;
  /** Ns that it is for, or bytes that were allocated there and are alive. */
  readonly weight: number;
  /** Samples, or objects. */
  readonly count: number;
}

/** The stacks of one thread: samples or else what it ran in stalls, or what it has allocated. */
export interface ThreadStacks {
  readonly thread: string;
  readonly unit: 'nanoseconds' | 'bytes';
  readonly stacks: SampledStack[];
}

const STALL = 'event loop blocked';

function stackFrame(text: string): StackFrame {
  const frame = frameOf(text);
  if (frame === undefined) return { name: text, file: '', line: 0 };
  const at = frame.line.lastIndexOf(':');
  return {
    name: frame.function ?? '(anonymous)',
    file: frame.line.slice(0, at),
    line: Number(frame.line.slice(at + 1)) || 0,
  };
}

/** The stacks of a recording, by thread: of its CPU profile, or else those of its stalls; and of its allocations. */
export async function sampledStacks(index: LookIndex): Promise<ThreadStacks[]> {
  const threads = new Map<string, ThreadStacks>();
  const stacksOf = (source: number, thread: number, unit: ThreadStacks['unit']): SampledStack[] => {
    const { service, pid, path } = index.sources[source]!;
    const track = index.tracks.find((each) => each.source === source && each.thread === thread);
    const of = `${service ?? path}${pid === undefined ? '' : ` ${pid}`} ${track?.name ?? thread}`;
    const name = unit === 'bytes' ? `${of} allocations` : of;
    return entryOf(threads, name, () => ({ thread: name, unit, stacks: [] })).stacks;
  };
  const profiles = [...index.profiles()];
  const requestOf = await inTurns(requestsOfSamples(index, profiles));
  for (const { part, source, offset } of profiles) {
    for (const { time, node, span } of part.samples) {
      const request = span === -1 ? undefined : requestOf(part.spans[span]!);
      const frames = framesOf(part, node).reverse();
      if (request !== undefined) frames.unshift(request.route);
      stacksOf(source, part.thread, 'nanoseconds').push({
        frames: frames.map(stackFrame),
        time: time + offset,
        weight: part.interval,
        count: 1,
      });
    }
  }
  if (threads.size === 0) {
    for await (const rows of index.find({ name: STALL })) {
      for (const row of rows) {
        const valueOf = attributesOf(index, row);
        const stack = valueOf(STACK);
        if (typeof stack !== 'string') continue;
        const { start, duration, track, part } = rowAt(index, row);
        const request = valueOf('eventloop.request');
        const frames = stack.split('\n').reverse();
        if (typeof request === 'string') frames.unshift(request);
        stacksOf(part.source.number, index.tracks[track]!.thread, 'nanoseconds').push({
          frames: frames.map(stackFrame),
          time: start,
          weight: duration,
          count: 1,
        });
      }
    }
  }
  for (const { part, source, offset } of lastAllocations(profiles)) {
    for (const { node, bytes, count } of part.sizes) {
      const frames = framesOf(part, node).reverse().map(stackFrame);
      const time = part.from + offset;
      stacksOf(source, part.thread, 'bytes').push({ frames, time, weight: bytes, count });
    }
  }
  for (const { stacks } of threads.values()) stacks.sort((a, b) => a.time - b.time);
  return [...threads.values()];
}
