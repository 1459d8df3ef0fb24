import { entryOf } from '../core/map-entries.js';
import type { EventPacket } from '../heph/packet.js';
import { loopFiguresOf } from '../spans/read/loop-curves.js';
import type { LoopFigures } from '../spans/read/loop-curves.js';
import type { SpanNotes } from '../spans/read/span-notes.js';
import type { FollowedFile } from './followed-files.js';
import type { Labels } from './metric-labels.js';

/** Gauges are of so many milliseconds; without a record an event loop waits. */
const WINDOW_MS = 10_000;
/** After the last record of a process that has ended, in milliseconds. */
const FORGET_MS = 60_000;
const MOST_LOOPS = 1000;
const NS_IN_MS = 1e6;

interface Sample extends LoopFigures {
  /** Of `performance.now`. */
  readAt: number;
}

/** An event loop, and the memory of its thread. */
interface Loop {
  labels: Labels;
  /** The file of the last record. */
  path: string;
  samples: Sample[];
  last: Sample | undefined;
  busyNs: number;
  collections: number;
  collectingNs: number;
}

/** A metric of event loops, by OpenTelemetry's names. */
interface LoopMetric {
  readonly type: 'counter' | 'gauge' | 'summary';
  readonly help: string;
  /** Names of counters have no `_total`. */
  readonly values: (loop: Loop) => Readonly<Record<string, number | undefined>>;
}

const seconds = (ns: number): number => ns / 1e9;

export const LOOP_METRICS: Readonly<Record<string, LoopMetric>> = {
  nodejs_eventloop_time_seconds: {
    type: 'counter',
    help: 'Time in which an event loop ran code.',
    values: ({ busyNs }) => ({ '': seconds(busyNs) }),
  },
  nodejs_eventloop_utilization_ratio: {
    type: 'gauge',
    help: 'The part of the last ten seconds in which an event loop ran code.',
    values: ({ samples }) => ({ '': ofWindow(samples, ({ busy = 0 }) => busy) }),
  },
  nodejs_eventloop_delay_mean_seconds: {
    type: 'gauge',
    help: 'How long an event at a random moment of the last ten seconds waited.',
    values: ({ samples }) => ({
      '': seconds(ofWindow(samples, ({ delay = 0, length }) => delay * length)),
    }),
  },
  nodejs_eventloop_delay_max_seconds: {
    type: 'gauge',
    help: 'The longest turn of the last ten seconds.',
    values: ({ samples }) => ({
      '': seconds(Math.max(0, ...samples.map(({ longest = 0 }) => longest))),
    }),
  },
  v8js_gc_duration_seconds: {
    type: 'summary',
    help: 'Garbage collections.',
    values: (loop) => ({ _sum: seconds(loop.collectingNs), _count: loop.collections }),
  },
  v8js_memory_heap_used_bytes: {
    type: 'gauge',
    help: 'Used bytes of the heap of a thread.',
    values: ({ last }) => ({ '': last?.heap }),
  },
  process_memory_usage_bytes: {
    type: 'gauge',
    help: 'Resident bytes of the process.',
    values: ({ last }) => ({ '': last?.rss }),
  },
};

/** @returns the sum over the window, in its unit a nanosecond. */
function ofWindow(samples: readonly Sample[], value: (sample: Sample) => number): number {
  const sum = samples.reduce((all, sample) => all + value(sample), 0);
  const length = samples.reduce((all, sample) => all + sample.length, 0);
  return sum / Math.max(WINDOW_MS * NS_IN_MS, length);
}

/** Metrics of the event loops of processes that run. */
export class LoopMetrics {
  readonly #loops = new Map<string, Loop>();

  /** Adds a record; one that says nothing of a loop adds nothing. */
  add(service: string, record: EventPacket, notes: SpanNotes, path: string): void {
    const figures = loopFiguresOf(record);
    if (figures === undefined) return;
    const pid = String(Number(notes.firstResource?.attributes['process.pid'] ?? 0));
    const labels = { service, process_pid: pid, thread: String(record.stream) };
    const key = Object.values(labels).join('\n');
    if (!this.#loops.has(key) && this.#loops.size >= MOST_LOOPS) return;
    const counts = { busyNs: 0, collections: 0, collectingNs: 0 };
    const loop = entryOf<string, Loop>(this.#loops, key, () => ({
      labels,
      path,
      samples: [],
      last: undefined,
      ...counts,
    }));
    loop.path = path;
    loop.last = { ...figures, readAt: performance.now() };
    loop.samples.push(loop.last);
    this.#forgetSamples(loop);
    loop.busyNs += figures.busy ?? 0;
    loop.collections += figures.collections ?? 0;
    loop.collectingNs += figures.gc ?? 0;
  }

  /** The loops of processes that run, or did so a moment ago. @param files those that are followed. */
  of(files: Iterable<FollowedFile>): readonly Loop[] {
    const running = new Set<string>();
    for (const { path, follower } of files) {
      if (follower.completeAt === undefined) running.add(path);
    }
    const now = performance.now();
    for (const [key, loop] of this.#loops) {
      const isOver = !running.has(loop.path) && now - loop.last!.readAt > FORGET_MS;
      if (isOver) this.#loops.delete(key);
      else this.#forgetSamples(loop);
    }
    return [...this.#loops.values()];
  }

  #forgetSamples(loop: Loop): void {
    const since = performance.now() - WINDOW_MS;
    loop.samples = loop.samples.filter(({ readAt }) => readAt > since);
  }
}
