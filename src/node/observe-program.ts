import { CALL_HEADERS, SOCKETLESS } from '../libraries/channel-names.js';
import { entryOf, firstChannels } from '../libraries/table.js';
import { recordUnderHook } from '../spans/hook-spans.js';
import { carryHook } from './carry-hook.js';
import { injectChannels } from './inject-channels.js';
import type { LibrarySettings } from './library-settings.js';
import { onFirstLook } from './otel/first-look.js';
import { otherTracing } from './otel/other-tracing.js';
import { dependedInstrumentations } from './otel/program-dependencies.js';
import { onFirstMessage } from './requests/channels.js';
import type { ProcessPlan } from './run/process-plan.js';
import type { RequestsInFlight } from './threads/requests-in-flight.js';
import { part } from './warning.js';

/** Channels of which one is published before anything else of a request: who listens there is loaded in time. */
const FIRST_OF_REQUESTS = [
  'http.server.request.start',
  CALL_HEADERS,
  'http.client.request.created',
  'http.client.request.start',
  'undici:request:create',
  'fastify.initialization',
  'tracing:net.server.listen:asyncStart',
  'udp.socket',
  'net.client.socket',
  'http2.server.stream.start',
  'http2.client.stream.created',
  SOCKETLESS,
];

/**
 * Observes what the program does: its requests, its libraries and its calls of the OpenTelemetry API. Nothing
 * of it is loaded before the program does such a thing.
 *
 * @param count takes what counts the open requests for the ovni stream of the thread, once there are some.
 */
export function observeProgram(
  plan: ProcessPlan,
  count: (inFlight: RequestsInFlight) => void,
): void {
  const begin = (): void => {
    part('HTTP requests are not traced', () => {
      const { traceRequests } =
        require('./requests/trace-requests.js') as typeof import('./requests/trace-requests.js');
      const inFlight = traceRequests(plan, plan.ovni?.atStart === true);
      if (inFlight !== undefined) count(inFlight);
    });
  };
  const { heph } = plan;
  if (heph !== undefined) {
    // Spans of the program go to the same trace, and may come before any request.
    recordUnderHook(() => {
      const { streamOfThread } =
        require('./run/heph-trace.js') as typeof import('./run/heph-trace.js');
      return streamOfThread(heph);
    }, plan.context);
    if (plan.context) {
      const { wrapStoredHeaders } =
        require('./requests/stored-headers.js') as typeof import('./requests/stored-headers.js');
      wrapStoredHeaders();
    }
  }
  onFirstMessage(FIRST_OF_REQUESTS, begin);
  part('workers and children may be left out', carryHook);
  if (heph === undefined) return;
  const { libraries, context } = plan;
  const names = context ? libraries.names : [];
  const left = plan.otel
    ? part('the OpenTelemetry API is not served', () => serveOpenTelemetry(plan, names))
    : undefined;
  const own = names.filter((name) => left?.includes(name) !== true);
  const logIds = context && libraries.logIds;
  watchLibraries({ ...libraries, names: own, logIds }, plan.otel);
}

/** Records what libraries do, each from its first message on. */
function watchLibraries(settings: LibrarySettings, servesOtel: boolean): void {
  const { names } = settings;
  const isRecorded = (name: string): boolean => (names as readonly string[]).includes(name);
  const injected = settings.injected.filter((name) => {
    const { isLogger, channels } = entryOf(name);
    if (isLogger === true) return settings.logIds;
    // What is not recorded itself serves anything that is.
    return channels === undefined ? names.length > 0 : isRecorded(name);
  });
  const routers = settings.injected.filter(
    (name) => entryOf(name).findsRoutes === true && !isRecorded(name),
  );
  if (injected.length + routers.length > 0) {
    part('no channels are put into libraries', () => {
      injectChannels(injected, routers);
    });
  }
  for (const name of settings.names) {
    onFirstMessage(firstChannels(name), (channel, message) => {
      part(`${name} is not traced`, () => {
        if (servesOtel) {
          const { recordsItself } =
            require('./otel/own-spans.js') as typeof import('./otel/own-spans.js');
          if (recordsItself(name, settings)) return;
        }
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
  { instrumentations, libraries }: ProcessPlan,
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
  if (!isServed) otherTracing.isRegistered = true;
  if (!isServed || instrumentations.length === 0) return [];
  if (instrumentations === 'auto' && dependedInstrumentations().length === 0) return [];
  const { disableInstrumentations, startInstrumentations } =
    require('./otel/start-instrumentations.js') as typeof import('./otel/start-instrumentations.js');
  const injected = libraries.injected.filter((name) => recorded.includes(name));
  const started = startInstrumentations(instrumentations, recorded, injected);
  disable = () => {
    disableInstrumentations(started);
  };
  return started.libraries;
}
