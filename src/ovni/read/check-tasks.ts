import { modelOf } from '../catalog.js';
import type { ModelName } from '../catalog.js';
import { MAX_REGION_DEPTH, concernsTasks } from '../model-regions.js';
import type { FindingCollector } from './finding-collector.js';
import type { StreamEvent } from './reader.js';
import type { ThreadStream } from './trace-directory.js';

/** The rules for tasks of a model. */
interface TaskRules {
  /** May a task begin directly in one that runs on the same thread? */
  readonly nests: boolean;
  readonly pauses: boolean;
  readonly runsAgain: boolean;
}

const rules: Readonly<Partial<Record<ModelName, TaskRules>>> = {
  nanos6: { nests: true, pauses: true, runsAgain: false },
  nosv: { nests: false, pauses: true, runsAgain: true },
  openmp: { nests: true, pauses: false, runsAgain: true },
};
/** Tasks of nosv that several threads may run at once (`VTC`). */
const PARALLEL: TaskRules = { nests: false, pauses: false, runsAgain: false };

/** One execution of a task. */
interface Body {
  readonly name: string;
  readonly rules: TaskRules;
  state: 'created' | 'running' | 'paused' | 'ended';
  thread: ThreadTasks | undefined;
}

interface Task {
  readonly label: string;
  readonly rules: TaskRules;
  readonly parallel: boolean;
  readonly bodies: Map<number, Body>;
}

interface ThreadTasks {
  /** Bodies that have begun and not ended, the last one on top. */
  readonly bodies: Body[];
  /** Labels of openmp's tasks and worksharings. */
  readonly labels: string[];
}

/** The tasks of a process in one model. */
interface ProcessTasks {
  /** Labels of task types. */
  readonly types: Map<number, string>;
  readonly tasks: Map<number, Task>;
  readonly threads: Map<ThreadStream, ThreadTasks>;
}

/** A reason for which the emulator refuses an event. */
type Fault = string | undefined;

function begin(body: Body, thread: ThreadTasks): Fault {
  if (body.state === 'ended' && !body.rules.runsAgain) return `${body.name} has ended`;
  if (body.state === 'running' || body.state === 'paused') return `${body.name} is ${body.state}`;
  const top = thread.bodies.at(-1);
  if (top?.state === 'running' && !top.rules.nests) return `${top.name} is running on this thread`;
  body.state = 'running';
  body.thread = thread;
  thread.bodies.push(body);
  return undefined;
}

/** Ends, pauses or resumes a body that has begun. */
function change(body: Body, thread: ThreadTasks, to: 'running' | 'paused' | 'ended'): Fault {
  if (to === 'paused' && !body.rules.pauses) return `${body.name} may not pause`;
  const from = to === 'running' ? 'paused' : 'running';
  if (body.state !== from) return `${body.name} is ${body.state}; it must be ${from}`;
  if (body.thread !== thread) return `${body.name} began on another thread`;
  if (thread.bodies.at(-1) !== body) return `another task has begun in ${body.name}`;
  body.state = to;
  if (to === 'ended') {
    thread.bodies.pop();
    body.thread = undefined;
  }
  return undefined;
}

/**
 * Follows the tasks and task types of all processes in the order of the clocks. Memory grows with the
 * number of tasks.
 */
export class TaskCheck {
  readonly #out: FindingCollector;
  readonly #processes = new Map<string, ProcessTasks>();

  constructor(out: FindingCollector) {
    this.#out = out;
  }

  event(stream: ThreadStream, event: StreamEvent): void {
    if (!concernsTasks(event.mcv)) return;
    const fault = this.#fault(stream, event);
    if (fault === undefined) return;
    this.#out.report('task', stream.path, () => `${event.mcv}: ${fault}`, event.offset);
  }

  #fault(stream: ThreadStream, event: StreamEvent): Fault {
    const model = modelOf(event.mcv)!;
    const process = this.#processOf(stream, model);
    const [, category, value] = event.mcv as unknown as [string, string, string];
    if (category === 'Y' || category === 'O') return defineType(process, event);
    // A payload that is too short is a finding of its own.
    if (event.jumbo || event.payloadBytes < (model === 'nosv' || value === 'c' ? 8 : 4)) {
      return undefined;
    }
    const first = event.i32(0) >>> 0;
    const thread = threadOf(process, stream);
    if (category === 'Q') return share(process, thread, first, value === 'x');
    const second = event.payloadBytes >= 8 ? event.i32(4) >>> 0 : 0;
    if (value === 'c' || value === 'C') return create(process, model, value === 'C', first, second);
    return run(process, thread, model, value, first, second);
  }

  #processOf({ loom, pid }: ThreadStream, model: ModelName): ProcessTasks {
    const key = `${model} ${pid} ${loom}`;
    let process = this.#processes.get(key);
    if (process === undefined) {
      process = { types: new Map(), tasks: new Map(), threads: new Map() };
      this.#processes.set(key, process);
    }
    return process;
  }
}

function threadOf({ threads }: ProcessTasks, stream: ThreadStream): ThreadTasks {
  let thread = threads.get(stream);
  if (thread === undefined) threads.set(stream, (thread = { bodies: [], labels: [] }));
  return thread;
}

function defineType({ types }: ProcessTasks, { data, littleEndian }: StreamEvent): Fault {
  if (data === undefined || data.length < 5) return undefined;
  const id = new DataView(data.buffer, data.byteOffset).getUint32(0, littleEndian);
  if (id === 0) return 'a task type has the number 0';
  if (types.has(id)) return `task type ${id} exists already`;
  const label = Buffer.from(data.subarray(4)).toString('latin1').split('\0', 1)[0]!;
  types.set(id, label === '' ? `(unlabeled task type ${id})` : label);
  return undefined;
}

function create(
  { types, tasks }: ProcessTasks,
  model: ModelName,
  parallel: boolean,
  id: number,
  type: number,
): Fault {
  if (id === 0 && model === 'openmp') return 'a task has the number 0';
  if (tasks.has(id)) return `task ${id} exists already`;
  const label = types.get(type);
  if (label === undefined) return `there is no task type ${type}`;
  tasks.set(id, { label, rules: parallel ? PARALLEL : rules[model]!, parallel, bodies: new Map() });
  return undefined;
}

function run(
  { tasks }: ProcessTasks,
  thread: ThreadTasks,
  model: ModelName,
  value: string,
  id: number,
  bodyId: number,
): Fault {
  const task = tasks.get(id);
  if (task === undefined) return `there is no task ${id}`;
  if (id === 0) return 'a task with the number 0 runs';
  if (model === 'nosv' && task.parallel !== (bodyId !== 0)) {
    return task.parallel
      ? `a body of parallel task ${id} has the number 0`
      : `the body of task ${id} has the number ${bodyId}; it must be 0`;
  }
  const number = task.parallel ? bodyId : 1;
  let body = task.bodies.get(number);
  if (body === undefined) {
    if (value !== 'x') return `task ${id} has not begun`;
    const name = task.parallel ? `body ${number} of task ${id}` : `task ${id}`;
    body = { name, rules: task.rules, state: 'created', thread: undefined };
    task.bodies.set(number, body);
  }
  const fault =
    value === 'x'
      ? begin(body, thread)
      : change(body, thread, value === 'e' ? 'ended' : value === 'p' ? 'paused' : 'running');
  if (fault !== undefined || model !== 'openmp') return fault;
  return value === 'x' ? pushLabel(thread, task.label) : popLabel(thread, task.label);
}

/** A worksharing of openmp begins or ends. */
function share({ types }: ProcessTasks, thread: ThreadTasks, type: number, begins: boolean): Fault {
  const label = types.get(type);
  if (label === undefined) return `there is no worksharing type ${type}`;
  return begins ? pushLabel(thread, label) : popLabel(thread, label);
}

function pushLabel({ labels }: ThreadTasks, label: string): Fault {
  if (labels.length === MAX_REGION_DEPTH) {
    return `${MAX_REGION_DEPTH} tasks and worksharings have begun, the most that the emulator keeps`;
  }
  labels.push(label);
  return undefined;
}

function popLabel({ labels }: ThreadTasks, label: string): Fault {
  const top = labels.pop();
  if (top === label) return undefined;
  return top === undefined
    ? 'nothing has begun'
    : 'another task or worksharing has begun in this one';
}
