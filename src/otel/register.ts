import { addRoot } from './api-context.js';
import { apiGlobals } from './api-globals.js';
import { loadedCopies, missingApi, programsApi } from './api-copies.js';
import type { ApiCopy, LoadedCopy } from './api-copies.js';
import { TracewrightContextManager } from './context-manager.js';
import { W3CPropagator } from './propagators.js';
import { ownOptions } from '../core/options/argument.js';
import { levelledLogger } from './log-level.js';
import { PROVIDER_OPTIONS, TracewrightProvider, registered } from './provider.js';
import type { FlushOptions } from './processor-timeout.js';
import type { ProviderOptions } from './provider.js';

/** Options of `register`. */
export interface RegisterOptions extends ProviderOptions {
  /**
   * The module `@opentelemetry/api` itself, for programs in which it cannot be found: bundled ones, for instance.
   * Default: the copy that the program's main file gets.
   */
  api?: ApiCopy;
}

/** The API's number. */
const ALL_LEVELS = 9999;

/** Result of `register`. */
export interface Registration {
  readonly provider: TracewrightProvider;
  /** `shutdown` of the provider. */
  shutdown(options?: FlushOptions): Promise<void>;
  /** `forceFlush` of the provider. */
  forceFlush(options?: FlushOptions): Promise<void>;
}

/** Of two versions 1.x.y whether the first is the newer one; one that is not known is the oldest. */
function isNewer(a: string | undefined, b: string | undefined): boolean {
  const [, minorA = 0, patchA = 0] = (a ?? '').split('.').map(Number);
  const [, minorB = 0, patchB = 0] = (b ?? '').split('.').map(Number);
  return minorA > minorB || (minorA === minorB && patchA > patchB);
}

/**
 * The copy that registers for all: they share their globals, and one of version 1.n uses what another of 1.n or later
 * has registered. So it is the newest, or the one whose version the globals have already.
 */
function registrar(program: ApiCopy, copies: readonly LoadedCopy[]): ApiCopy {
  const present = apiGlobals()?.version;
  if (present !== undefined) {
    const equal = copies.filter(({ version }) => version === present).map(({ api }) => api);
    return equal.includes(program) ? program : (equal[0] ?? program);
  }
  let best = copies.find(({ api }) => api === program)!;
  for (const copy of copies) if (isNewer(copy.version, best.version)) best = copy;
  return best.api;
}

/** Tracers that a program got from a copy before anything was registered ask that copy's own provider. */
function delegateTo(provider: TracewrightProvider, { api }: LoadedCopy): void {
  const { _proxyTracerProvider: proxy } = api.trace as unknown as {
    _proxyTracerProvider?: { setDelegate?: (provider: TracewrightProvider) => void };
  };
  proxy?.setDelegate?.(provider);
}

function warn(message: string): void {
  process.emitWarning(message, { type: 'TracewrightWarning', code: 'TRACEWRIGHT_OTEL' });
}

function hasProvider(): boolean {
  return apiGlobals()?.trace !== undefined;
}

function registerProvider(provider: TracewrightProvider, program: ApiCopy): void {
  const copies = loadedCopies();
  if (!copies.some((copy) => copy.api === program))
    copies.push({ api: program, version: undefined });
  const api = registrar(program, copies);
  for (const copy of copies) addRoot(copy.api.ROOT_CONTEXT);
  if (hasProvider()) {
    warn('the OpenTelemetry API has another tracer provider already, which stays');
    return;
  }
  const isRegistered = [
    api.context.setGlobalContextManager(new TracewrightContextManager(api.ROOT_CONTEXT)),
    api.propagation.setGlobalPropagator(new W3CPropagator()),
    api.trace.setGlobalTracerProvider(provider),
  ];
  if (isRegistered.includes(false)) {
    warn('the OpenTelemetry API has another context manager or propagator already, which stays');
  }
  for (const copy of copies) if (copy.api !== api) delegateTo(provider, copy);
}

/**
 * Has the OpenTelemetry API of this thread record with tracewright/spans: tracer provider, context manager and W3C's
 * propagators. What is already registered stays, with a warning. A second call changes the options that it names, as
 * the first one does under the register hook, whose provider it returns.
 *
 * @throws TracewrightError that names an unknown option; `ERR_DEPENDENCY` when `@opentelemetry/api` cannot be found.
 */
export function register(options: RegisterOptions = {}): Registration {
  // Under the register hook the first look at them has the hook serve the API.
  hasProvider();
  const known = registered.provider;
  const { api, ...own } = ownOptions(options, [...PROVIDER_OPTIONS, 'api']);
  const provider = known ?? new TracewrightProvider(own);
  if (known === undefined) {
    const program = api ?? programsApi();
    if (program === undefined) throw missingApi();
    const logger = levelledLogger();
    // A level of the API itself would filter once more.
    if (logger !== undefined && apiGlobals()?.diag === undefined) {
      program.diag.setLogger(logger, ALL_LEVELS);
    }
    registerProvider(provider, program);
    registered.provider = provider;
  } else {
    known.change(own);
    if (api !== undefined) addRoot(api.ROOT_CONTEXT);
  }
  return {
    provider,
    forceFlush: (flushOptions) => provider.forceFlush(flushOptions),
    shutdown: (flushOptions) => provider.shutdown(flushOptions),
  };
}
