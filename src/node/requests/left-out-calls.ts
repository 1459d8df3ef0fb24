import { API_GLOBALS_KEY, SUPPRESS_TRACING_KEY } from '../../otel/keys.js';
import { otherTracing } from '../otel/other-tracing.js';

/** Where other agents send what they have recorded: Sentry, New Relic, Elastic, Datadog. */
const UPLOADS =
  /^(?:\/api\/\d+\/envelope\/|\/agent_listener\/invoke_raw_method|\/intake\/v2\/events|\/v0\.\d\/(?:traces|config|stats)$|\/telemetry\/proxy\/|\/dogstatsd\/)/;

/** What is active in a context manager that is not ours. */
interface ApiGlobals {
  context?: { active(): { getValue(key: symbol): unknown } };
}

/** Whether the program, or another SDK, has put the calling code into OpenTelemetry's `suppressTracing`. */
function isSuppressed(): boolean {
  // Contexts of ours say it to each span.
  if (!otherTracing.isRegistered) return false;
  const { context } = (globalThis as { [API_GLOBALS_KEY]?: ApiGlobals })[API_GLOBALS_KEY] ?? {};
  return context?.active().getValue(SUPPRESS_TRACING_KEY) === true;
}

/** Whether a request is left out: an agent of the process sends what it has recorded, or asks for no trace of it. */
export function isLeftOut(method: string, path: string): boolean {
  return ((method === 'POST' || method === 'PUT') && UPLOADS.test(path)) || isSuppressed();
}
