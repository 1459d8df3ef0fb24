import type { FindingCollector } from './finding-collector.js';
import type { StreamEvent } from './reader.js';
import { holdsCpu, transitionOf } from '../thread-state.js';
import type { ThreadState } from '../thread-state.js';
import type { ThreadStream, TraceDirectory } from './trace-directory.js';
import { codeOf } from '../layout.js';

const OHX = codeOf('OHx');
const OAS = codeOf('OAs');
const OAR = codeOf('OAr');

interface Thread {
  readonly stream: ThreadStream;
  readonly loom: Loom;
  state: ThreadState;
  /** Index of the CPU, while the thread holds one. */
  cpu: number;
}

interface Loom {
  /** The first thread with a tid, in the process of the pid and in any process. */
  readonly byPidAndTid: Map<string, Thread>;
  readonly byTid: Map<number, Thread>;
  /** Running threads by index of their physical CPU. */
  readonly running: Map<number, Set<Thread>>;
}

function pidAndTid(pid: number, tid: number): string {
  return `${pid} ${tid}`;
}

function addThread({ byPidAndTid, byTid }: Loom, thread: Thread): void {
  const { pid, tid } = thread.stream;
  const key = pidAndTid(pid, tid);
  if (!byPidAndTid.has(key)) byPidAndTid.set(key, thread);
  if (!byTid.has(tid)) byTid.set(tid, thread);
}

/** Puts a thread in a state on a CPU, and returns another thread that runs there at the same time. */
function enter(thread: Thread, state: ThreadState, cpu: number): Thread | undefined {
  const { running } = thread.loom;
  const before = running.get(thread.cpu);
  if (thread.state === 'running') before?.delete(thread);
  thread.state = state;
  thread.cpu = cpu;
  if (state !== 'running' || cpu < 0) return undefined;
  const there = running.get(cpu) ?? new Set();
  running.set(cpu, there);
  there.add(thread);
  if (there.size === 1) return undefined;
  const [first] = there;
  return first;
}

/**
 * Follows the CPUs of all threads in the order of the clocks. Only that order shows two threads that
 * run on one physical CPU, and threads that others move to another CPU. Faults of a single stream are
 * ignored here.
 */
export class CpuCheck {
  readonly #out: FindingCollector;
  readonly #threads = new Map<ThreadStream, Thread>();

  constructor(trace: TraceDirectory, out: FindingCollector) {
    this.#out = out;
    for (const { processes } of trace.looms) {
      const loom: Loom = { byPidAndTid: new Map(), byTid: new Map(), running: new Map() };
      for (const stream of processes.flatMap((process) => process.threads)) {
        const thread: Thread = { stream, loom, state: 'unknown', cpu: -1 };
        addThread(loom, thread);
        this.#threads.set(stream, thread);
      }
    }
  }

  event(stream: ThreadStream, event: StreamEvent): void {
    const { code } = event;
    const thread = this.#threads.get(stream)!;
    const transition = transitionOf(code);
    let moved: Thread | undefined;
    let other: Thread | undefined;
    if (transition !== undefined) {
      const cpu = code === OHX && event.payloadBytes >= 4 ? event.i32(0) : thread.cpu;
      moved = thread;
      other = enter(thread, transition.to, cpu);
    } else if (code === OAS && event.payloadBytes === 4 && holdsCpu(thread.state)) {
      const cpu = event.i32(0);
      if (cpu === thread.cpu) return;
      moved = thread;
      other = enter(thread, thread.state, cpu);
    } else if (code === OAR && event.payloadBytes === 8) {
      const cpu = event.i32(0);
      moved = this.#remote(thread, event.i32(4), cpu, event.offset);
      if (moved === undefined) return;
      other = enter(moved, moved.state, cpu);
    }
    if (other === undefined || moved === undefined) return;
    this.#out.report(
      'cpu-busy',
      stream.path,
      `thread ${moved.stream.tid} runs on CPU ${moved.cpu}, where thread ${other.stream.tid} of process ${other.stream.pid} is running`,
      event.offset,
    );
  }

  /** The thread that `OAr` moves; undefined, with a finding, if it cannot be moved. */
  #remote(by: Thread, tid: number, cpu: number, offset: number): Thread | undefined {
    const { stream, loom } = by;
    const moved = loom.byPidAndTid.get(pidAndTid(stream.pid, tid)) ?? loom.byTid.get(tid);
    const why =
      moved === undefined
        ? 'which the loom does not have'
        : !holdsCpu(moved.state)
          ? `which is ${moved.state}`
          : moved.cpu === cpu
            ? `which is on CPU ${cpu} already`
            : undefined;
    if (why === undefined) return moved;
    this.#out.report('affinity', stream.path, `OAr moves thread ${tid}, ${why}`, offset);
    return undefined;
  }
}
