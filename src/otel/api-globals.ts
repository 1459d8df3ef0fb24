import type {
  Context,
  ContextManager,
  DiagLogger,
  TextMapPropagator,
  TracerProvider,
} from '@opentelemetry/api';
import { shared } from '../core/process-state.js';
import { API_GLOBALS_KEY } from './keys.js';

/** Globals that the copies of version 1 of the API share. */
export interface ApiGlobals {
  readonly version: string;
  trace?: TracerProvider;
  context?: ContextManager;
  propagation?: TextMapPropagator;
  diag?: DiagLogger;
}

/** Providers, context managers and propagators of all copies of this package in the thread. */
const own = shared('otel.own', () => new WeakSet());

/** The globals of the API; undefined until something was registered. A program can replace them. */
export function apiGlobals(): ApiGlobals | undefined {
  return (globalThis as { [API_GLOBALS_KEY]?: ApiGlobals | null })[API_GLOBALS_KEY] ?? undefined;
}

/** Says that a provider, a context manager or a propagator is one of ours. */
export function addOwn(part: object): void {
  own.add(part);
}

/** Whether a provider, a context manager or a propagator is one of ours. */
export function isOwn(part: unknown): boolean {
  return typeof part === 'object' && part !== null && own.has(part);
}

let known: ContextManager | undefined;

/** Whether the API's active context is that of tracewright/spans, or nobody else's. */
export function isOwnManager(): boolean {
  const manager = apiGlobals()?.context;
  if (manager === undefined || manager === known) return true;
  if (!isOwn(manager)) return false;
  known = manager;
  return true;
}

/** The active context of another context manager. */
export function activeElsewhere(): Context | undefined {
  return apiGlobals()?.context?.active();
}
