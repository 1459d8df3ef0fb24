import type {
  Context,
  ContextManager,
  TextMapPropagator,
  TracerProvider,
} from '@opentelemetry/api';
import { API_GLOBALS_KEY } from './keys.js';

/** What the copies of version 1 of the API share in a process. */
export interface ApiGlobals {
  readonly version: string;
  trace?: TracerProvider;
  context?: ContextManager;
  propagation?: TextMapPropagator;
}

let globals: ApiGlobals | undefined;
/** Context managers that keep what they have in the storage of tracewright/spans. */
const own = new WeakSet<object>();

/** The globals of the API; undefined until something was registered. */
export function apiGlobals(): ApiGlobals | undefined {
  globals ??= (globalThis as { [API_GLOBALS_KEY]?: ApiGlobals })[API_GLOBALS_KEY];
  return globals;
}

/** Says that a context manager is one of ours. */
export function addOwnManager(manager: ContextManager): void {
  own.add(manager);
}

let known: ContextManager | undefined;

/** Whether the API's active context is that of tracewright/spans, or nobody else's. */
export function isOwnManager(): boolean {
  const manager = (globals ?? apiGlobals())?.context;
  if (manager === undefined || manager === known) return true;
  if (!own.has(manager)) return false;
  known = manager;
  return true;
}

/** The active context of somebody else's context manager. */
export function activeElsewhere(): Context | undefined {
  return apiGlobals()?.context?.active();
}
