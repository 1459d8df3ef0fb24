import { TracewrightError, wrongType } from '../core/errors.js';
import { ownOptions } from '../core/options/argument.js';
import { getNote, putNote } from '../core/process-notes.js';
import { isSdkDisabled } from '../core/options/switch.js';
import { shared } from '../core/process-state.js';
import { isMainThread } from '../core/system-thread.js';
import { checkTarget } from '../heph/target.js';
import type { Target } from '../heph/target.js';
import { OpenEventTable } from '../heph/write/open-events.js';
import type { OpenSpanOptions } from '../heph/write/open-events.js';
import type { Stream } from '../heph/write/stream.js';
import { openTraceOfOpenEvents } from '../heph/write/trace.js';
import type { Trace } from '../heph/write/trace.js';
import type { SpanAttributes } from './attributes.js';
import { markUsed } from './first-use.js';
import { hookSpans } from './hook-spans.js';
import type { OpenStream } from './hook-spans.js';
import { checkLimits } from './limits.js';
import type { SpanLimits } from './limits.js';
import type { Policy } from './policy.js';
import { checkRedaction, redactorWithoutPaths, warnOf } from './redaction/redaction.js';
import type { Redaction } from './redaction/redaction.js';
import type { KeepOptions } from './keep/keep-options.js';
import { giveKeep, keepRules, waitingBytes } from './keep-setting.js';
import { KEEP_RULES, REDACTION_FAULT, SAMPLING_RATIO } from './layout.js';
import { describeResource } from './resource.js';
import type { Resource, ResourceOptions } from './resource.js';
import { checkSampler } from './sampling.js';
import { SpanOutput } from './write/span-output.js';

/** Options of `configure`. Each overrides its environment variable. */
export interface SpanOptions {
  /** The service's name. Default `OTEL_SERVICE_NAME`, else the name in the program's package.json. */
  service?: string;
  /** The service's version. Default the one in the program's package.json. */
  version?: string;
  /** Further attributes of the resource. Default `OTEL_RESOURCE_ATTRIBUTES`. */
  resource?: SpanAttributes;
  /**
   * Share of the traces that begin here which is recorded, 0 to 1. A caller's decision goes first.
   * Default 1, or `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`.
   */
  sample?: number;
  limits?: SpanLimits;
  redact?: Redaction;
  /**
   * Where spans go: as for `openTrace` of tracewright/heph. Under the register hook spans go to the
   * hook's trace, and this does nothing.
   */
  target?: Target;
  /**
   * How many open spans survive a kill of the process, and how much of each. Set it with the target.
   * Under the register hook only its variables count.
   */
  openSpans?: OpenSpanOptions;
  /**
   * Which traces are kept whole; the others leave counts and durations. Default all, or `TRACEWRIGHT_KEEP`. Set it
   * with the target, and under the register hook before the first span.
   */
  keep?: KeepOptions;
}

/** Of the process: all its threads have the same variables, and one of them warns. */
const FAULT_NOTE = 'spans.redaction-fault';

/** How long an output that cannot be opened is left alone. */
const PAUSE_MS = 2000;

let source: OpenStream | undefined = hookSpans.open;
let fromHook = source !== undefined;
/** The `openSpans` with which the target was opened, as text. */
let openSpansKey: string | undefined;
let targetKey: string | undefined;
let ownTrace: Trace | undefined;
let options: SpanOptions = {};
let resource: Resource | undefined;
let policy: Policy | undefined;
let retryAt = 0;
let warned = false;

let isOpening = false;
/** Where spans go; undefined: nowhere, or the output is yet to be opened. */
export let output: SpanOutput | undefined;

/** Whether there never was a target for spans: nothing is recorded. */
export let isIdle = source === undefined;
if (!isIdle) markUsed();

/** By options and variables. Variables that are wrong count as not set: nothing may fail for them. */
export function currentPolicy(): Policy {
  return (policy ??= usePolicy({
    limits: checkLimits(options.limits),
    redactor: redactorOf(options.redact),
    sampler: checkSampler(options.sample),
  }));
}

/** Says once what is wrong with the redaction of a policy. */
function usePolicy(next: Policy): Policy {
  const fault = next.redactor?.fault;
  if (fault !== undefined && getNote(FAULT_NOTE) !== fault) {
    putNote(FAULT_NOTE, fault);
    warnOf(`${fault}: no path, no query and no name with a path is recorded`);
  }
  return next;
}

/** A variable that is wrong must not fail a service. What it would redact cannot be known: no path is recorded. */
function redactorOf(redact: Redaction | undefined): Policy['redactor'] {
  try {
    return checkRedaction(redact);
  } catch (error) {
    return redactorWithoutPaths(redact, (error as Error).message);
  }
}

/** The resource, with what readers must know of redaction and sampling. */
function resourceWith({ redactor, sampler: { ratio } }: Policy, described: Resource): Resource {
  const fault = redactor?.fault;
  const rules = keepRules();
  if (fault === undefined && ratio === 1 && rules === undefined) return described;
  const attributes = {
    ...described.attributes,
    ...(fault === undefined ? {} : { [REDACTION_FAULT]: fault }),
    ...(ratio === 1 ? {} : { [SAMPLING_RATIO]: ratio }),
    ...(rules === undefined ? {} : { [KEEP_RULES]: rules.text }),
  };
  return { ...described, attributes };
}

/** The output of a thread: by rules, its spans wait until it is known whether their traces are kept. */
function openOutputOf(stream: Stream, used: Policy, described: Resource): SpanOutput {
  const rules = keepRules();
  if (rules !== undefined) {
    const { KeepingOutput } =
      require('./keep/keeping-output.js') as typeof import('./keep/keeping-output.js');
    const keeping = KeepingOutput.open(stream, used, described, rules);
    if (keeping !== undefined) return keeping;
  }
  return new SpanOutput(stream, used, described);
}

/** Opens the output if there is a target for spans; undefined while it cannot be opened. */
export function openOutput(): SpanOutput | undefined {
  if (output !== undefined || source === undefined || Date.now() < retryAt) return output;
  // To open it may sleep, and what watches sleeps records them.
  if (isOpening) return undefined;
  isOpening = true;
  try {
    resource ??= describeResource(options);
    const stream = source();
    if (!stream.trace.enabled) {
      source = undefined;
      return undefined;
    }
    const used = currentPolicy();
    output = openOutputOf(stream, used, resourceWith(used, resource));
    if (fromHook) hookSpans.opened?.();
  } catch (error) {
    retryAt = Date.now() + PAUSE_MS;
    if (!warned) {
      warned = true;
      process.emitWarning(`spans are not recorded: ${(error as Error).message}`, {
        type: 'TracewrightWarning',
        code: 'TRACEWRIGHT_SPANS',
      });
    }
  } finally {
    isOpening = false;
  }
  return output;
}

/** A program that has set up a provider wants its spans somewhere. */
export function warnWithoutTarget(): void {
  if (warned || isSdkDisabled()) return;
  warned = true;
  process.emitWarning(
    "spans of the OpenTelemetry API are not recorded: they have no target; call configure({ target }) of 'tracewright/spans'",
    { type: 'TracewrightWarning', code: 'TRACEWRIGHT_SPANS' },
  );
}

// The first copy of the package is the one that records.
hookSpans.arrived ??= (open) => {
  source = open;
  isIdle = false;
  markUsed();
  fromHook = true;
  output = undefined;
};

/**
 * Sets what spans of this thread are recorded, how and where. A second call changes what it names.
 *
 * @throws TracewrightError for a wrong option, for a target that cannot be opened, and `ERR_ORDER` for a
 *   target other than the present one.
 */
export function configure(given: SpanOptions): void {
  const own = ownOptions(given, [
    'service',
    'version',
    'resource',
    'sample',
    'limits',
    'redact',
    'target',
    'openSpans',
    'keep',
  ]);
  const next: SpanOptions = {
    ...options,
    ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)),
  };
  const nextPolicy: Policy = {
    limits: checkLimits(next.limits),
    redactor: checkRedaction(next.redact),
    sampler: checkSampler(next.sample),
  };
  const described: ResourceOptions = {
    ...(next.service === undefined ? {} : { service: next.service }),
    ...(next.version === undefined ? {} : { version: next.version }),
    ...(next.resource === undefined ? {} : { resource: next.resource }),
  };
  const nextResource = describeResource(described);
  if (own.openSpans !== undefined) checkOpenSpans(own.openSpans);
  if (own.keep !== undefined) useKeep(own.keep);
  if (own.target !== undefined) useTarget(own.target, next.openSpans);
  const before = policy;
  options = next;
  policy = usePolicy(nextPolicy);
  resource = nextResource;
  if (output === undefined) return;
  output.policy = nextPolicy;
  const isOther =
    before?.redactor?.fault !== nextPolicy.redactor?.fault ||
    before?.sampler.ratio !== nextPolicy.sampler.ratio;
  if (isOther || [own.service, own.version, own.resource].some((each) => each !== undefined)) {
    output.setResource(resourceWith(nextPolicy, nextResource));
  }
}

/** @throws TracewrightError when they are wrong, or come after the target. */
function checkOpenSpans(openSpans: OpenSpanOptions): void {
  new OpenEventTable(openSpans);
  if (openSpansKey === undefined || openSpansKey === JSON.stringify(openSpans)) return;
  throw new TracewrightError('ERR_ORDER', 'configure: openSpans must come with the target', {
    field: 'openSpans',
    value: openSpans,
    limit: 'as they were when the target was opened',
  });
}

/** @throws TracewrightError when it is wrong, or comes after the target. */
function useKeep(keep: KeepOptions): void {
  if (output !== undefined || ownTrace !== undefined) {
    throw new TracewrightError('ERR_ORDER', 'configure: keep must come with the target', {
      field: 'keep',
      value: keep,
      limit: 'with the target, and under the register hook before the first span',
    });
  }
  giveKeep(keep);
}

const answered = shared('spans.variables', () => ({ once: false }));

/** Warns of variables of OpenTelemetry that are wrong, or that change nothing here. */
function answerVariables(): void {
  if (answered.once || !isMainThread) return;
  answered.once = true;
  const { answersToVariables } =
    require('./open-telemetry-variables.js') as typeof import('./open-telemetry-variables.js');
  for (const answer of answersToVariables(process.env)) {
    process.emitWarning(answer, { type: 'TracewrightWarning', code: 'TRACEWRIGHT_OTEL' });
  }
}

function useTarget(target: Target, openSpans: OpenSpanOptions = {}): void {
  const { key } = checkTarget(target);
  if (fromHook) return;
  if (targetKey !== undefined && targetKey !== key) {
    throw new TracewrightError('ERR_ORDER', `configure: the target is ${targetKey} already`, {
      field: 'target',
      value: target,
      limit: 'the first target; shut down to change it',
    });
  }
  if (targetKey === key) return;
  answerVariables();
  if (isSdkDisabled()) return;
  ownTrace = openTraceOfOpenEvents(target, {}, openSpans, waitingBytes());
  targetKey = key;
  openSpansKey = JSON.stringify(openSpans);
  const trace = ownTrace;
  isIdle = false;
  markUsed();
  source = () => (isMainThread ? trace.streamOfOpenEvents(0) : trace.streamOfOpenEvents());
  // An earlier target may have failed.
  retryAt = 0;
}

/**
 * Resolves once the spans that this thread has ended are in the file, or have been handed to the network.
 *
 * @throws TracewrightError `ERR_TIMEOUT` when the target does not take them in time.
 */
export async function flush(): Promise<void> {
  await output?.trace.flush();
}

/**
 * Ends the recording of this thread's spans. Spans that are open then are recorded as unfinished. After it,
 * `configure` may name another target. Under the register hook it only flushes: the trace is the hook's.
 */
export async function shutdown(): Promise<void> {
  if (fromHook) {
    await flush();
    return;
  }
  const trace = ownTrace;
  output?.finish();
  source = undefined;
  output = undefined;
  ownTrace = undefined;
  targetKey = undefined;
  openSpansKey = undefined;
  await trace?.close();
}

/** @throws TracewrightError unless a name is a text. */
export function checkName(name: unknown): void {
  if (typeof name !== 'string') throw wrongType('name', name, 'a string');
}
