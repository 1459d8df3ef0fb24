import { systemThreadId } from '../core/system-thread.js';
import { mapPagesLate } from '../core/ring/ring.js';
import { TracewrightError } from '../core/errors.js';
import { recordsNothing } from '../core/off.js';
import { shared } from '../core/process-state.js';
import { checkRingDir } from '../core/options/ring-options.js';
import { claimSizeVariables } from '../core/options/size-limits.js';
import { currentProcess } from '../ovni/write/process-note.js';
import { thread } from '../ovni/write/thread.js';
import { isRequired } from './enabled.js';
import { PAUSE_MS } from './guard.js';
import { observeProgram } from './observe-program.js';
import { keepNodeFast } from './keep-node-fast.js';
import { completeOnSignals } from './process-end.js';
import { announce } from './run/announce.js';
import { planHeph } from './run/plan-heph.js';
import { forgoPlan, knownPlan, publishPlan } from './run/process-plan.js';
import type { ProcessPlan } from './run/process-plan.js';
import { joinRun, leaveRun } from './run/run.js';
import { settleEarlier } from './run/settle-earlier.js';
import { freeDescriptors, LEAST_FREE } from './free-descriptors.js';
import { readSettings } from './settings.js';
import type { Settings } from './settings.js';
import { beginOvni, firstClockOf } from './threads/begin-ovni.js';
import { observeItself, observeStream } from './threads/observe-thread.js';
import type { LateRequests, ObservedThread } from './threads/observe-thread.js';
import { beginThread } from './threads/thread-stream.js';
import { part, reasonOf, warn } from './warning.js';

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

/** The budget of a trace that is sent, unless one is set: files are a buffer then. */
const SHIPPED_BYTES = String(2 ** 30);

/** Where this process's run sends spans; undefined: nowhere, or it is run by a test runner. */
function shipTarget({ ship, heph, hephTarget }: Settings): string | undefined {
  if (ship === undefined || process.env['NODE_TEST_CONTEXT'] !== undefined) return undefined;
  if ((process as { permission?: unknown }).permission !== undefined) {
    warn(
      'TRACEWRIGHT_SHIP: no process is started under --permission; run `tracewright ship` next to the service',
    );
    return undefined;
  }
  if (heph && hephTarget === undefined) return ship;
  warn('TRACEWRIGHT_SHIP: only a Heph trace in the directory of the run is sent');
  return undefined;
}

/** Too few descriptors are free for a trace and a service. The threads that follow are not traced either. */
function forgoTrace(settings: Settings, free: number): void {
  publishPlan(planOf(settings, systemThreadId()));
  const reason =
    `${free} file descriptors are free, and a traced service needs ${LEAST_FREE}; raise its ` +
    'limit (ulimit -n, LimitNOFILE)';
  if (isRequired()) throw new Error(reason);
  warn(`this process is not traced: ${reason}`);
}

function beginFirst(): void {
  const settings = readSettings();
  const free = freeDescriptors();
  if (free < LEAST_FREE) {
    forgoTrace(settings, free);
    return;
  }
  const ringDir = settleRingDir();
  mapPagesLate();
  const ship = shipTarget(settings);
  if (ship !== undefined) process.env['TRACEWRIGHT_MAX_BYTES'] ??= SHIPPED_BYTES;
  claimSizeVariables();
  const run = joinRun(settings);
  const { firstClock } = run;
  completeOnSignals();
  const used = part('earlier traces stay as they are', () => settleEarlier(run, ringDir)) ?? 0;
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
  announce(settings, run, plan);
  if (ship !== undefined && run.topmost && heph !== undefined) {
    part('TRACEWRIGHT_SHIP: nothing is sent', () => {
      const { startShipper } =
        require('./run/start-shipper.js') as typeof import('./run/start-shipper.js');
      startShipper(run, settings, ship);
    });
  }
  observe(plan, {});
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

/** Begins the ovni stream of a thread once the system allows it. */
function beginLater(plan: ProcessPlan, observed: ObservedThread, requests: LateRequests): void {
  setTimeout(() => {
    if (currentProcess()?.finished !== false || thread.process !== undefined) return;
    part(UNTRACED, () => {
      if (beginFurtherThread(plan) !== undefined) {
        beginLater(plan, observed, requests);
        return;
      }
      observeStream(plan, observed, requests);
      requests.inFlight?.restate();
    });
  }, PAUSE_MS).unref();
}

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
  beginLater(plan, observed, requests);
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
