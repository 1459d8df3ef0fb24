import { systemThreadId } from '../core/system-thread.js';
import { freeDescriptors } from '../core/native-calls.js';
import { recordsNothing } from '../core/off.js';
import { shared } from '../core/process-state.js';
import { mapPagesLate } from '../core/ring/ring.js';
import { checkRingDir } from '../core/options/ring-options.js';
import { claimSizeVariables } from '../core/options/size-limits.js';
import { observeProgram } from './observe-program.js';
import { keepNodeFast } from './keep-node-fast.js';
import { completeOnSignals } from './process-end.js';
import { forgoPlan, knownPlan, publishPlan } from './run/process-plan.js';
import type { HephPlan, OvniPlan, ProcessPlan } from './run/process-plan.js';
import { announce } from './run/announce.js';
import { leaveNothing, leaveRun } from './run/brief-process.js';
import { bytesOfEarlier } from './run/earlier-runs.js';
import { joinRun, enterFormat } from './run/run.js';
import { readSettings } from './settings.js';
import type { Settings } from './settings.js';
import { observeThread } from './threads/observe-thread.js';
import { beginWhenCalled, ovniStream } from './threads/late-ovni.js';
import type { RequestsInFlight } from './threads/requests-in-flight.js';
import { part } from './warning.js';
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

function observe(plan: ProcessPlan): void {
  let inFlight: RequestsInFlight | undefined;
  observeThread(plan, () => inFlight);
  observeProgram(plan, (counting) => {
    inFlight = counting;
  });
}

/** The plan of a process that writes nothing yet. */
function planOf({ ofThreads }: Settings, firstTid: number): ProcessPlan {
  return { ...ofThreads, firstClock: 0n, ovni: undefined, heph: undefined, firstTid };
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
  const sends = (settings.ship ?? settings.metrics) !== undefined;
  const sender = sends ? shipper().senderOf(settings) : undefined;
  claimSizeVariables();
  const run = joinRun(settings);
  const { firstClock } = run;
  completeOnSignals();
  const used = part('earlier traces stay as they are', () => bytesOfEarlier(run, ringDir)) ?? 0;
  const heph = settings.heph
    ? part('no Heph trace is written', () => planHeph(settings, run, used))
    : undefined;
  const plan: ProcessPlan = { ...planOf(settings, systemThreadId()), firstClock, heph };
  plan.ovni = part(NO_OVNI, () => beginOvni(plan, settings, run, used));
  publishPlan(plan);
  if ((plan.ovni ?? heph) === undefined) {
    leaveRun(run, settings);
    return;
  }
  if (sender !== undefined && run.topmost && heph !== undefined) {
    part('nothing is sent', () => {
      shipper().startShipper(run, settings, sender);
    });
  }
  observe(plan);
  if (process.env['NODE_OPTIONS'] && sender === undefined) {
    leaveNothing(settings, run, plan);
  } else if (!settings.quiet && run.topmost) {
    announce(settings, run, plan);
  }
}

const NO_OVNI = 'no ovni trace is written';

/** The ovni trace of the process, which begins here if it is wanted whatever the program does. */
function beginOvni(
  plan: ProcessPlan,
  settings: Settings,
  run: Run,
  used: number,
): OvniPlan | undefined {
  const { app, loom, ovniVersion: version, ovni: atStart } = settings;
  const { directory, topmost } = run;
  if (!atStart && plan.heph === undefined) return undefined;
  const { maxBytes } = sizesOf(used);
  const ovni: OvniPlan = { atStart, directory, topmost, app, loom, version, maxBytes };
  if (atStart && !ovniStream().beginStream(plan, ovni)) return undefined;
  beginWhenCalled(plan, ovni);
  return ovni;
}

function beginFurther(plan: ProcessPlan): void {
  const { ovni, heph } = plan;
  if ((ovni ?? heph) === undefined) return;
  settleRingDir();
  if (ovni !== undefined) beginWhenCalled(plan, ovni);
  observe(plan);
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
