import { writeSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { clockNow } from '../core/clock.js';
import { checkFileMode, directoryMode } from '../core/options/file-mode.js';
import { mapPagesLate } from '../core/ring/ring.js';
import { keepTargetOpen } from '../core/ring/shared-target.js';
import { systemThreadId } from '../core/system-thread.js';
import { TracewrightError } from '../core/errors.js';
import { makeDirectories } from '../core/files/make-directories.js';
import { recordsNothing } from '../core/off.js';
import { shared } from '../core/process-state.js';
import { checkRingDir, checkRingOptions } from '../core/options/ring-options.js';
import { holdingSignals } from '../core/signals.js';
import { claimSizeVariables, readSizeVariables } from '../core/options/size-limits.js';
import type { CheckedSizeOptions, SizeOptions } from '../core/options/size-limits.js';
import { EXTENSION } from '../heph/file-names.js';
import { checkTarget } from '../heph/target.js';
import { openTraceOfOpenEvents } from '../heph/write/trace.js';
import type { Trace } from '../heph/write/trace.js';
import { currentProcess } from '../ovni/write/process-note.js';
import { thread } from '../ovni/write/thread.js';
import { traceClientRequests } from './requests/client-spans.js';
import { completeAtExit, completeOnSignals } from './process-end.js';
import { traceFetchRequests } from './requests/fetch-spans.js';
import { GarbageCollections } from './threads/garbage-collections.js';
import type { ServerRecorder } from './requests/exchange.js';
import { FlatRecorder } from './requests/flat-recorder.js';
import { traceServerRequests } from './requests/server-spans.js';
import { firstPiece, presentPiece, rotatePieces } from './threads/ovni-rotation.js';
import type { PieceSettings } from './threads/ovni-rotation.js';
import { forgoPlan, knownPlan, publishPlan } from './run/process-plan.js';
import type { ProcessPlan } from './run/process-plan.js';
import { RequestsInFlight } from './threads/requests-in-flight.js';
import { enterFormat, joinRun, leaveRun } from './run/run.js';
import type { Run } from './run/run.js';
import { readSettings } from './settings.js';
import type { Settings } from './settings.js';
import { SpanStream } from './requests/span-stream.js';
import { beginFirstThread, beginStream, beginThread, beginTrace } from './threads/thread-stream.js';
import { PAUSE_MS } from './guard.js';
import { reasonOf, warn } from './warning.js';

/** Runs one part of the set-up. If it fails, the others continue without it. */
function part<T>(what: string, begin: () => T): T | undefined {
  try {
    return begin();
  } catch (error) {
    warn(`${what}: ${reasonOf(error)}`);
    return undefined;
  }
}

/** `name.heph`, then `name-<pid>.heph`, `name-<pid>-2.heph` …: the first that is not there. */
function openFree(
  path: string,
  sharedName: boolean,
  sizes: SizeOptions,
): { trace: Trace; target: string } {
  const suffix = extname(path);
  const stem = join(dirname(path), basename(path, suffix));
  makeDirectories(dirname(path), directoryMode(checkFileMode()));
  for (let attempt = sharedName ? 1 : 0; ; attempt++) {
    const tail =
      attempt === 0 ? '' : attempt === 1 ? `-${process.pid}` : `-${process.pid}-${attempt}`;
    const target = `${stem}${tail}${suffix}`;
    try {
      const trace = holdingSignals(() => openTraceOfOpenEvents(target, sizes));
      // A worker that is the first to be traced may be gone before the others.
      keepTargetOpen(checkTarget(target).key);
      return { trace, target };
    } catch (error) {
      if (!(error instanceof TracewrightError) || error.code !== 'ERR_TRACE_EXISTS') throw error;
    }
  }
}

/** Makes the directory for rings absolute, for child processes with other working directories. */
function settleRingDir(): string | undefined {
  const ringDir = checkRingDir();
  if (ringDir !== undefined) process.env['TRACEWRIGHT_RING_DIR'] = ringDir;
  return ringDir;
}

/** What this process may write: with `atMaxBytes: stop`, what earlier traces left of the budget. */
function sizesOf(used: number): CheckedSizeOptions {
  const { ringBytes } = checkRingOptions({}, { onFull: 'block' });
  const sizes = readSizeVariables(ringBytes);
  if (sizes.maxBytes === 0 || sizes.atMaxBytes !== 'stop') return sizes;
  const maxBytes = sizes.maxBytes - used;
  if (maxBytes < 4 * ringBytes) {
    throw new Error(
      `earlier traces take ${used} of the ${sizes.maxBytes} bytes of TRACEWRIGHT_MAX_BYTES`,
    );
  }
  return { ...sizes, maxBytes, rotateBytes: Math.min(sizes.rotateBytes, Math.floor(maxBytes / 2)) };
}

/**
 * Completes what processes that were killed have left in the place of this run, and deletes the
 * oldest traces of earlier ones that are beyond the budget.
 *
 * @returns the bytes of those that stay.
 */
function settleEarlier(run: Run, ringDir: string | undefined): number {
  // The directory is new, and no earlier run has used its name.
  if (run.topmost && run.earlier.length === 0) return 0;
  const { completeEarlierTraces, deleteOldest, whileAnchored } =
    require('./run/earlier-traces.js') as typeof import('./run/earlier-traces.js');
  return whileAnchored(run.earlier, () => {
    const traces = completeEarlierTraces(run.directory, run.earlier, ringDir);
    const { maxBytes, atMaxBytes } = sizesOf(0);
    if (maxBytes > 0 && atMaxBytes === 'deleteOldest') deleteOldest(traces, maxBytes);
    return traces.reduce((sum, { bytes }) => sum + bytes, 0);
  });
}

/** As options of `openTrace`, which take no 0 for "no limit". */
function sizeOptionsOf({ maxBytes, rotateBytes, atMaxBytes }: CheckedSizeOptions): SizeOptions {
  return {
    ...(maxBytes > 0 ? { maxBytes } : {}),
    ...(rotateBytes > 0 ? { rotateBytes } : {}),
    atMaxBytes,
  };
}

function openHeph(settings: Settings, run: Run, used: number): { trace: Trace; target: string } {
  const { hephTarget, name } = settings;
  if (hephTarget === undefined) {
    const sizes = sizeOptionsOf(sizesOf(used));
    return openFree(join(enterFormat(run, 'heph'), `${name}${EXTENSION}`), true, sizes);
  }
  if (checkTarget(hephTarget).kind === 'file') {
    // Every process of the run needs a file of its own.
    return openFree(checkTarget(hephTarget).path, !run.topmost, sizeOptionsOf(sizesOf(0)));
  }
  return { trace: openTraceOfOpenEvents(hephTarget), target: hephTarget };
}

function announce(settings: Settings, run: Run, plan: ProcessPlan): void {
  if (settings.quiet || !run.topmost) return;
  const places = new Set<string>();
  if (plan.ovni || settings.hephTarget === undefined) places.add(run.directory);
  if (plan.hephTarget !== undefined && settings.hephTarget !== undefined)
    places.add(plan.hephTarget);
  try {
    writeSync(
      2,
      `tracewright: ${settings.name} (${process.pid}) is traced in ${[...places].join(' and ')}\n`,
    );
  } catch {
    // Standard error is closed.
  }
}

/** Begins the ovni trace of the process, in one directory or in the first of a series. */
function beginOvni(settings: Settings, run: Run, used: number): PieceSettings | undefined {
  const directory = enterFormat(run, 'ovni');
  const sizes = sizesOf(used);
  const most = sizes.atMaxBytes === 'stop' ? sizes.maxBytes : 0;
  const { firstClock, topmost } = run;
  if (sizes.rotateBytes === 0) {
    beginTrace(settings, directory, most);
    beginFirstThread(firstClock, topmost);
    return undefined;
  }
  const begun = topmost ? firstClock : clockNow();
  beginTrace(settings, firstPiece(directory, begun), most, directory);
  beginFirstThread(begun, true);
  return { ...sizes, directory };
}

/** The moment with which a late stream of the present ovni trace leads. */
function firstClockOf(plan: ProcessPlan): bigint {
  return plan.pieces === undefined ? plan.firstClock : presentPiece().begun;
}

/** What takes the calling thread from one piece of the ovni trace to the next. */
function rotate(
  plan: ProcessPlan,
  pieces: PieceSettings,
  collections: GarbageCollections | undefined,
  requests: RequestsInFlight,
): void {
  rotatePieces(pieces, plan.firstTid === systemThreadId(), {
    begin(stream, begun) {
      beginStream(stream, begun, clockNow(), plan.firstTid);
    },
    leave() {
      collections?.leaveTrace();
    },
    arrive(begun) {
      collections?.enterTrace(begun);
      requests.restate();
    },
  });
}

/** What concerns the ovni stream of the thread alone, once it has begun. */
function observeThread(plan: ProcessPlan, requests: RequestsInFlight): void {
  const collections = part('garbage collections are not traced', () => {
    const observed = new GarbageCollections(firstClockOf(plan));
    completeAtExit(observed);
    return observed;
  });
  if (plan.pieces !== undefined) rotate(plan, plan.pieces, collections, requests);
}

/** @param requests for the ovni stream of the thread, which may be yet to begin. */
function observe(
  plan: ProcessPlan,
  trace: Trace | undefined,
  requests: RequestsInFlight | undefined,
): void {
  const spans = plan.hephTarget === undefined ? undefined : new SpanStream(plan.hephTarget, trace);
  if (requests !== undefined && thread.process !== undefined) observeThread(plan, requests);
  if (spans === undefined && requests === undefined) return;
  const open = spans === undefined ? undefined : recorderOf(plan, spans);
  traceServerRequests(open, requests, plan.requestBytes);
}

/** Records outgoing requests; returns what opens the recorder of those that come in. */
function recorderOf({ context }: ProcessPlan, spans: SpanStream): () => ServerRecorder {
  if (context !== undefined) {
    const { traceRequestsWithContext } =
      require('./requests/context/trace-requests.js') as typeof import('./requests/context/trace-requests.js');
    const recorder = traceRequestsWithContext(spans, context);
    return () => recorder;
  }
  traceClientRequests(spans);
  traceFetchRequests(spans);
  return () => new FlatRecorder(spans);
}

function beginFirst(): void {
  const settings = readSettings();
  const ringDir = settleRingDir();
  mapPagesLate();
  claimSizeVariables();
  const run = joinRun(settings);
  const { firstClock } = run;
  completeOnSignals();
  const used = part('earlier traces stay as they are', () => settleEarlier(run, ringDir)) ?? 0;
  const ovni = settings.ovni
    ? part('no ovni trace is written', () => ({ pieces: beginOvni(settings, run, used) }))
    : undefined;
  const heph = settings.heph
    ? part('no Heph trace is written', () => openHeph(settings, run, used))
    : undefined;
  const plan: ProcessPlan = {
    firstClock,
    ovni: ovni !== undefined,
    pieces: ovni?.pieces,
    hephTarget: heph?.target,
    requestBytes: settings.requestBytes,
    context: settings.context,
    firstTid: systemThreadId(),
  };
  publishPlan(plan);
  if (ovni === undefined && heph === undefined) {
    leaveRun(run, settings);
    return;
  }
  announce(settings, run, plan);
  observe(plan, heph?.trace, ovni === undefined ? undefined : new RequestsInFlight());
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
function beginLater(plan: ProcessPlan, requests: RequestsInFlight): void {
  setTimeout(() => {
    if (currentProcess()?.finished !== false || thread.process !== undefined) return;
    part(UNTRACED, () => {
      if (beginFurtherThread(plan) !== undefined) {
        beginLater(plan, requests);
        return;
      }
      observeThread(plan, requests);
      requests.restate();
    });
  }, PAUSE_MS).unref();
}

function beginFurther(plan: ProcessPlan): void {
  settleRingDir();
  let requests: RequestsInFlight | undefined;
  if (plan.ovni && currentProcess()?.finished === false) {
    requests = part(UNTRACED, () => {
      const refused = beginFurtherThread(plan);
      const inFlight = new RequestsInFlight();
      if (refused !== undefined) {
        warn(`${UNTRACED} until the system allows it: ${reasonOf(refused)}`);
        beginLater(plan, inFlight);
      }
      return inFlight;
    });
  }
  observe(plan, undefined, requests);
}

const hook = shared('node.hook', () => ({ begun: false }));

/**
 * Traces the calling thread, and with the first thread of a process the process. A second call
 * changes nothing.
 */
export function beginTracing(): void {
  if (hook.begun) return;
  hook.begun = true;
  if (recordsNothing()) return;
  if (process.versions['bun'] !== undefined) {
    throw new Error(
      'Bun does not report HTTP requests; only the functions of the formats work there',
    );
  }
  const plan = knownPlan();
  if (plan !== undefined) {
    beginFurther(plan);
    return;
  }
  try {
    beginFirst();
  } catch (error) {
    forgoPlan();
    throw error;
  }
}
