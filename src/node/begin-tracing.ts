import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { clockNow } from '../core/clock.js';
import { mapPagesLate } from '../core/ring/ring.js';
import { systemThreadId } from '../core/system-thread.js';
import { TracewrightError } from '../core/errors.js';
import { recordsNothing } from '../core/off.js';
import { shared } from '../core/process-state.js';
import { checkRingDir, checkRingOptions } from '../core/options/ring-options.js';
import { claimSizeVariables, readSizeVariables } from '../core/options/size-limits.js';
import type { CheckedSizeOptions, SizeOptions } from '../core/options/size-limits.js';
import { RUN_FOLDER as HEPH_FOLDER } from '../heph/file-names.js';
import { RUN_FOLDER as OVNI_FOLDER } from '../ovni/file-names.js';
import { currentProcess } from '../ovni/write/process-note.js';
import { thread } from '../ovni/write/thread.js';
import { completeAtExit, completeOnSignals } from './process-end.js';
import { GarbageCollections } from './threads/garbage-collections.js';
import type { PieceSettings } from './threads/ovni-rotation.js';
import { COLLECTIONS, STALLS } from './threads/past-mark-kinds.js';
import { PastMarks } from './threads/past-marks.js';
import { ThreadActivity } from './threads/thread-activity.js';
import { recordUnderHook } from '../spans/hook-place.js';
import { firstChannels } from '../libraries/watched-channels.js';
import type { LibrarySettings } from './library-settings.js';
import { onFirstLook } from './otel/first-look.js';
import { dependedInstrumentations } from './otel/program-dependencies.js';
import { onFirstMessage } from './requests/channels.js';
import { forgoPlan, knownPlan, publishPlan } from './run/process-plan.js';
import type { HephPlan, ProcessPlan } from './run/process-plan.js';
import type { RequestsInFlight } from './threads/requests-in-flight.js';
import { enterFormat, joinRun, leaveRun } from './run/run.js';
import type { Run } from './run/run.js';
import { readSettings } from './settings.js';
import type { Settings } from './settings.js';
import { beginFirstThread, beginStream, beginThread, beginTrace } from './threads/thread-stream.js';
import { PAUSE_MS } from './guard.js';
import { reasonOf, warn } from './warning.js';

/** What is published first of anything that is recorded of requests. */
const FIRST_OF_REQUESTS = [
  'http.server.request.start',
  'http.client.request.created',
  'http.client.request.start',
  'undici:request:create',
  'fastify.initialization',
];
/** And where requests have context. What listens will serve. */
const FIRST_WITH_CONTEXT = [
  ...FIRST_OF_REQUESTS,
  'tracing:net.server.listen:asyncStart',
  'http2.server.stream.start',
  'http2.client.stream.created',
];

/** Node's channels announce no request of node:http before its headers are made. */
const isBefore22 = Number.parseInt(process.versions.node) < 22;

/** Runs one part of the set-up. If it fails, the others continue without it. */
function part<T>(what: string, begin: () => T): T | undefined {
  try {
    return begin();
  } catch (error) {
    warn(`${what}: ${reasonOf(error)}`);
    return undefined;
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

/** The trace of a target that the user has named is opened at once, so that a mistake is reported at once. */
function planHeph(settings: Settings, run: Run, used: number): HephPlan {
  const { hephTarget, name } = settings;
  if (hephTarget === undefined) {
    const sizes = sizeOptionsOf(sizesOf(used));
    // Held open from now on, so that nothing else can take the place of the directory.
    return { path: join(enterFormat(run, HEPH_FOLDER), name), sizes };
  }
  const { openNamedTarget } =
    require('./requests/heph-trace.js') as typeof import('./requests/heph-trace.js');
  return { target: openNamedTarget(hephTarget, !run.topmost, () => sizeOptionsOf(sizesOf(0))) };
}

function announce(settings: Settings, run: Run, plan: ProcessPlan): void {
  if (settings.quiet || !run.topmost) return;
  const places = new Set<string>();
  const { heph } = plan;
  if (plan.ovni || settings.hephTarget === undefined) places.add(run.directory);
  if (heph !== undefined && 'target' in heph) places.add(heph.target);
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
  const directory = enterFormat(run, OVNI_FOLDER);
  const sizes = sizesOf(used);
  const most = sizes.atMaxBytes === 'stop' ? sizes.maxBytes : 0;
  const { firstClock, topmost } = run;
  if (sizes.rotateBytes === 0) {
    beginTrace(settings, directory, most);
    beginFirstThread(firstClock, topmost);
    return undefined;
  }
  const { firstPiece } = rotation();
  const begun = topmost ? firstClock : clockNow();
  beginTrace(settings, firstPiece(directory, begun), most, directory);
  beginFirstThread(begun, true);
  return { ...sizes, directory };
}

function rotation(): typeof import('./threads/ovni-rotation.js') {
  return require('./threads/ovni-rotation.js') as typeof import('./threads/ovni-rotation.js');
}

/** The moment with which a late stream of the present ovni trace leads. */
function firstClockOf(plan: ProcessPlan): bigint {
  return plan.pieces === undefined ? plan.firstClock : rotation().presentPiece().begun;
}

/** What takes the calling thread from one piece of the ovni trace to the next. */
function rotate(
  plan: ProcessPlan,
  pieces: PieceSettings,
  observed: ObservedThread,
  requests: LateRequests,
): void {
  const { collections, marks } = observed;
  rotation().rotatePieces(pieces, plan.firstTid === systemThreadId(), {
    begin(stream, begun) {
      beginStream(stream, begun, clockNow(), plan.firstTid);
    },
    leave() {
      collections?.flush();
      for (const each of marks) each.leaveTrace();
    },
    arrive(begun) {
      for (const each of marks) each.enterTrace(begun);
      requests.inFlight?.restate();
    },
  });
}

/** What is observed of the calling thread itself. */
interface ObservedThread {
  activity: ThreadActivity | undefined;
  collections: GarbageCollections | undefined;
  /** In its ovni trace. */
  marks: PastMarks[];
}

/** Observes the calling thread itself, whose ovni stream may be yet to begin. */
function observeItself(plan: ProcessPlan, hasStream: boolean): ObservedThread {
  const marks: PastMarks[] = [];
  const activity = part('the event loop is not watched', () => new ThreadActivity(plan));
  const collections = part('garbage collections are not traced', () => {
    const hasSpans = plan.heph !== undefined && plan.collectionMs >= 0;
    if (!hasStream && !hasSpans) return undefined;
    const observed = new GarbageCollections();
    if (hasSpans) {
      observed.reportTo((collection) => {
        activity?.collected(collection);
      });
    }
    completeAtExit(observed, marks);
    return observed;
  });
  return { activity, collections, marks };
}

/** What concerns the ovni stream of the thread alone, once it has begun. */
function observeStream(plan: ProcessPlan, observed: ObservedThread, requests: LateRequests): void {
  const { activity, collections, marks } = observed;
  const firstClock = firstClockOf(plan);
  const ofCollections = new PastMarks(COLLECTIONS, firstClock);
  const ofStalls = new PastMarks(STALLS, firstClock);
  marks.push(ofCollections, ofStalls);
  collections?.reportTo(({ kind, from, to }) => {
    ofCollections.record(kind, from, to);
  });
  if (activity !== undefined) activity.marks = ofStalls;
  if (plan.pieces !== undefined) rotate(plan, plan.pieces, observed, requests);
}

/** What counts the open requests of the thread, from the first request on. */
interface LateRequests {
  inFlight?: RequestsInFlight;
}

/** @param requests the ovni stream of the thread may be yet to begin; undefined: it will have none. */
function observe(plan: ProcessPlan, requests: LateRequests | undefined): ObservedThread {
  const hasStream = plan.ovni && requests !== undefined;
  const observed = observeItself(plan, hasStream);
  if (hasStream && thread.process !== undefined) observeStream(plan, observed, requests);
  observeProgram(plan, requests);
  return observed;
}

function observeProgram(plan: ProcessPlan, requests: LateRequests | undefined): void {
  if (plan.heph === undefined && (requests === undefined || !plan.ovni)) return;
  const begin = (): void => {
    part('HTTP requests are not traced', () => {
      const { traceRequests } =
        require('./requests/trace-requests.js') as typeof import('./requests/trace-requests.js');
      const inFlight = traceRequests(plan, plan.ovni && requests !== undefined);
      if (requests !== undefined && inFlight !== undefined) requests.inFlight = inFlight;
    });
  };
  const { heph } = plan;
  if (heph !== undefined) {
    // Spans of the program go to the same trace, and may come before any request.
    recordUnderHook(() => {
      const { streamOfThread } =
        require('./requests/span-stream.js') as typeof import('./requests/span-stream.js');
      return streamOfThread(heph).stream;
    });
    if (plan.context !== undefined && isBefore22) {
      const { publishCreatedRequests } =
        require('./requests/early-headers.js') as typeof import('./requests/early-headers.js');
      publishCreatedRequests();
    }
  }
  onFirstMessage(plan.context === undefined ? FIRST_OF_REQUESTS : FIRST_WITH_CONTEXT, begin);
  if (heph === undefined) return;
  const { libraries, context } = plan;
  const names = context === undefined ? [] : libraries.names;
  const left = plan.otel
    ? part('the OpenTelemetry API is not served', () => serveOpenTelemetry(plan, names))
    : undefined;
  watchLibraries({ ...libraries, names: names.filter((name) => left?.includes(name) !== true) });
}

/** Records what libraries do, each from its first message on. */
function watchLibraries(settings: LibrarySettings): void {
  const injected = settings.injected.filter((name) => settings.names.includes(name));
  if (injected.length > 0) {
    part('no channels are put into libraries', () => {
      const { injectChannels } =
        require('./inject-channels.js') as typeof import('./inject-channels.js');
      injectChannels(injected);
    });
  }
  for (const name of settings.names) {
    onFirstMessage(firstChannels(name), (channel, message) => {
      part(`${name} is not traced`, () => {
        const { recordLibrary } =
          require('../libraries/record-library.js') as typeof import('../libraries/record-library.js');
        recordLibrary(name, settings, { channel, message });
      });
    });
  }
}

/**
 * Serves the OpenTelemetry API, unless something is registered there.
 *
 * @param recorded libraries that the hook records.
 * @returns those that instrumentations record instead.
 */
function serveOpenTelemetry(
  { instrumentations }: ProcessPlan,
  recorded: readonly string[],
): readonly string[] {
  let disable: () => void = () => undefined;
  const isServed = onFirstLook((present) => {
    part('the OpenTelemetry API is not served', () => {
      const { OpenTelemetry } =
        require('./otel/open-telemetry.js') as typeof import('./otel/open-telemetry.js');
      new OpenTelemetry(present, () => {
        disable();
      });
    });
  });
  if (!isServed || instrumentations.length === 0) return [];
  if (instrumentations === 'auto' && dependedInstrumentations().length === 0) return [];
  const { disableInstrumentations, startInstrumentations } =
    require('./otel/start-instrumentations.js') as typeof import('./otel/start-instrumentations.js');
  const started = startInstrumentations(instrumentations, recorded);
  disable = () => {
    disableInstrumentations(started);
  };
  return started.libraries;
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
    ? part('no Heph trace is written', () => planHeph(settings, run, used))
    : undefined;
  const plan: ProcessPlan = {
    firstClock,
    ovni: ovni !== undefined,
    pieces: ovni?.pieces,
    heph,
    requestBytes: settings.requestBytes,
    context: settings.context,
    libraries: settings.libraries,
    otel: settings.otel,
    instrumentations: settings.instrumentations,
    stallMs: settings.stallMs,
    loopCounters: settings.loopCounters,
    collectionMs: settings.collectionMs,
    firstTid: systemThreadId(),
  };
  publishPlan(plan);
  if (ovni === undefined && heph === undefined) {
    leaveRun(run, settings);
    return;
  }
  announce(settings, run, plan);
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

/**
 * Loads AsyncLocalStorage. On Node 24 and 25 that changes how Node keeps the context of each callback, and what V8
 * has learnt of it until then is slow from then on: half a microsecond a request, with context or without.
 */
function settleAsyncContext(): unknown {
  return process.getBuiltinModule('node:async_hooks').AsyncLocalStorage;
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
  settleAsyncContext();
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
