import { systemThreadId } from '../core/system-thread.js';
import { TracewrightError } from '../core/errors.js';
import { freeDescriptors } from '../core/native-calls.js';
import { recordsNothing } from '../core/off.js';
import { shared } from '../core/process-state.js';
import { mapPagesLate } from '../core/ring/ring.js';
import { checkRingDir } from '../core/options/ring-options.js';
import { claimSizeVariables } from '../core/options/size-limits.js';
import { currentProcess } from '../ovni/write/process-note.js';
import { thread } from '../ovni/write/thread.js';
import { observeProgram } from './observe-program.js';
import { keepNodeFast } from './keep-node-fast.js';
import { completeOnSignals } from './process-end.js';
import { forgoPlan, knownPlan, publishPlan } from './run/process-plan.js';
import type { ProcessPlan, HephPlan } from './run/process-plan.js';
import { announce } from './run/announce.js';
import { leaveNothing, leaveRun } from './run/brief-process.js';
import { bytesOfEarlier } from './run/earlier-runs.js';
import { joinRun, enterFormat } from './run/run.js';
import { readSettings } from './settings.js';
import type { Settings } from './settings.js';
import { beginOvni, firstClockOf } from './threads/begin-ovni.js';
import { observeItself, observeStream } from './threads/observe-thread.js';
import type { LateRequests, ObservedThread } from './threads/observed-thread.js';
import { beginThread } from './threads/thread-stream.js';
import { part, reasonOf, warn } from './warning.js';
import { pathIn } from '../core/files/path-in.js';
import { RUN_FOLDER } from '../heph/file-names.js';
import type { Run } from './run/run.js';
import { sizeOptionsOf, sizesOf } from './run/trace-sizes.js';

/** Makes the directory for rings absolute, for child processes with other working directories. */
function settleRingDir(): string | undefined {
  const ringDir = checkRingDir();
  if (ringDir !== undefined) process.env['TRACEWRIGHT_RING_DIR'] = ringDir;
  return ringDir;
}

/** @param requests the ovni stream of the thread may be yet to begin; undefined: it will have none. */
function observe(plan: ProcessPlan, requests: LateRequests | undefined): ObservedThread {
  const hasStream = plan.ovni && requests !== undefined;
  const observed = observeItself(plan, hasStream);
  if (hasStream && thread.process !== undefined) observeStream(plan, observed, requests);
  observeProgram(plan, requests);
  return observed;
}

/** What the settings say of a process that writes nothing yet. */
function planOf(settings: Settings, firstTid: number): ProcessPlan {
  return {
    firstClock: 0n,
    ovni: false,
    pieces: undefined,
    heph: undefined,
    requestBytes: settings.requestBytes,
    context: settings.context,
    propagation: settings.propagation,
    trust: settings.trust,
    libraries: settings.libraries,
    otel: settings.otel,
    instrumentations: settings.instrumentations,
    stallMs: settings.stallMs,
    loopCounters: settings.loopCounters,
    collectionMs: settings.collectionMs,
    firstTid,
  };
}

function shipper(): typeof import('./run/start-shipper.js') {
  return require('./run/start-shipper.js') as typeof import('./run/start-shipper.js');
}

/**
 * Descriptors that must be free when a process begins to be traced. The trace takes six, and some more for
 * moments; the rest is for the connections of the service.
 */
const LEAST_FREE = 32;

function beginFirst(): void {
  const settings = readSettings();
  const free = freeDescriptors();
  if (free < LEAST_FREE) {
    // The threads that follow are not traced either.
    publishPlan(planOf(settings, systemThreadId()));
    const { forgoTrace } = require('./few-descriptors.js') as typeof import('./few-descriptors.js');
    forgoTrace(free, LEAST_FREE);
    return;
  }
  const ringDir = settleRingDir();
  mapPagesLate();
  const ship = settings.ship === undefined ? undefined : shipper().shipTarget(settings);
  claimSizeVariables();
  const run = joinRun(settings);
  const { firstClock } = run;
  completeOnSignals();
  const used = part('earlier traces stay as they are', () => bytesOfEarlier(run, ringDir)) ?? 0;
  const ovni = settings.ovni
    ? part('no ovni trace is written', () => ({ pieces: beginOvni(settings, run, used) }))
    : undefined;
  const heph = settings.heph
    ? part('no Heph trace is written', () => planHeph(settings, run, used))
    : undefined;
  const plan: ProcessPlan = {
    ...planOf(settings, systemThreadId()),
    firstClock,
    ovni: ovni !== undefined,
    pieces: ovni?.pieces,
    heph,
  };
  publishPlan(plan);
  if (ovni === undefined && heph === undefined) {
    leaveRun(run, settings);
    return;
  }
  if (ship !== undefined && run.topmost && heph !== undefined) {
    part('TRACEWRIGHT_SHIP: nothing is sent', () => {
      shipper().startShipper(run, settings, ship);
    });
  }
  const observed = observe(plan, {});
  if (process.env['NODE_OPTIONS'] && ship === undefined) {
    leaveNothing(settings, run, plan, observed);
  } else if (!settings.quiet && run.topmost) {
    announce(settings, run, plan);
  }
}

/** Begins the ovni stream of a further thread; returns what the system has refused it, if it has. */
function beginFurtherThread(plan: ProcessPlan): TracewrightError | undefined {
  try {
    beginThread(firstClockOf(plan), plan.firstTid);
    return undefined;
  } catch (error) {
    if (error instanceof TracewrightError && error.code === 'ERR_SYSTEM') return error;
    throw error;
  }
}

const UNTRACED = 'no ovni trace of this thread is written';

function beginFurther(plan: ProcessPlan): void {
  if (!plan.ovni && plan.heph === undefined) return;
  settleRingDir();
  let requests: LateRequests | undefined;
  let refused: TracewrightError | undefined;
  if (plan.ovni && currentProcess()?.finished === false) {
    requests = part(UNTRACED, () => {
      refused = beginFurtherThread(plan);
      return {};
    });
  }
  const observed = observe(plan, requests);
  if (refused === undefined || requests === undefined) return;
  warn(`${UNTRACED} until the system allows it: ${reasonOf(refused)}`);
  const { beginLater } =
    require('./threads/begin-later.js') as typeof import('./threads/begin-later.js');
  const late = requests;
  beginLater(UNTRACED, () => {
    if (beginFurtherThread(plan) !== undefined) return false;
    observeStream(plan, observed, late);
    late.inFlight?.restate();
    return true;
  });
}

const hook = shared('node.hook', () => ({ begun: false }));

/**
 * Traces the calling thread, and with the first thread of a process the process. A second call
 * changes nothing.
 *
 * @returns whether this call has begun the trace of the process.
 */
export function beginTracing(): boolean {
  if (hook.begun) return false;
  hook.begun = true;
  if (recordsNothing()) return false;
  if (process.versions['bun'] !== undefined) {
    throw new Error(
      'Bun does not report HTTP requests; only the functions of the formats work there',
    );
  }
  keepNodeFast();
  const plan = knownPlan();
  if (plan !== undefined) {
    beginFurther(plan);
    return false;
  }
  try {
    beginFirst();
    return true;
  } catch (error) {
    forgoPlan();
    throw error;
  }
}

/** The trace of a target that the user has named is opened at once, so that a mistake is reported at once. */
function planHeph(settings: Settings, run: Run, used: number): HephPlan {
  const { hephTarget, name } = settings;
  if (hephTarget === undefined) {
    const sizes = sizeOptionsOf(sizesOf(used));
    // Held open from now on, so that nothing else can take the place of the directory.
    return { path: pathIn(enterFormat(run, RUN_FOLDER), name), sizes };
  }
  const { openNamedTarget } =
    require('./run/heph-trace.js') as typeof import('./run/heph-trace.js');
  return { target: openNamedTarget(hephTarget, !run.topmost, () => sizeOptionsOf(sizesOf(0))) };
}
