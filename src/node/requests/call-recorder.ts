import type { SpanValue } from '../../spans/attributes.js';
import type { ActiveContext } from '../../spans/context/active-context.js';
import { TRACE_PARENT, TRACE_STATE } from '../../spans/context/header-format.js';
import { isOfSameTrace, traceParentOf } from '../../spans/context/trace-context.js';
import { sentTraceState, withOwnParent } from '../../spans/context/trace-state-entries.js';
import { OTHER_METHOD } from '../../spans/conventions.js';
import { KIND_SHIFT, KINDS } from '../../spans/layout.js';
import { isSigned } from '../../spans/propagation.js';
import { spans } from '../../spans/shared-spans.js';
import { REMOTE } from '../../spans/span.js';
import type { Span } from '../../spans/span.js';
import { Prefix } from '../../spans/slot/prefix.js';
import { isPath, urlOf } from './call-target.js';
import type { CallTarget } from './call-target.js';
import * as http from './conventions.js';
import { describeGrpc } from './grpc.js';
import type { PropagationPolicy } from './propagation-policy.js';
import {
  isOfHttp,
  NO_VERSION,
  protocolOf,
  RequestTemplates,
  schemeOf,
} from './request-templates.js';
import type { RequestKind } from './request-templates.js';
import { pathOf } from './path-and-route.js';
import { API_GLOBALS_KEY, SUPPRESS_TRACING_KEY } from '../../otel/keys.js';
import { otherTracing } from '../otel/other-tracing.js';

const ERROR = 2;
const SAMPLED = 1;
const CLIENT = KINDS.indexOf('client') << KIND_SHIFT;
const INTERNAL = KINDS.indexOf('internal') << KIND_SHIFT;
/** From this status on the request has failed. */
const FAILED = 400;

/** Shorter waits for a connection are not recorded, in ns. */
const LEAST_WAIT = 1e6;

/** The headers of a request that is yet to be sent. */
export interface CallHeaders {
  /** Of the request, with the query, which may have a signature. */
  readonly path?: string | undefined;
  get(name: string): unknown;
  /** Adds a header, or replaces it. */
  set(name: string, value: string): void;
  delete(name: string): void;
}

/** Records the requests that this thread sends as spans, and puts their ids into the headers. */
export class CallRecorder {
  readonly #policy: PropagationPolicy;
  readonly #hasContext: boolean;
  readonly #templates = new RequestTemplates(callTemplate);

  /** @param hasContext whether a request is below the active span; otherwise it begins a trace. */
  constructor(policy: PropagationPolicy, hasContext: boolean) {
    this.#policy = policy;
    this.#hasContext = hasContext;
  }

  /**
   * @param headers undefined if it is too late to add one.
   * @returns undefined: the request is not recorded, and gets no headers.
   */
  start(target: CallTarget, headers: CallHeaders | undefined): Call | undefined {
    if (isLeftOut(target.method, target.path)) return undefined;
    const context = this.#hasContext ? spans.activeContext() : undefined;
    const server = http.hostAndPort(target.authority);
    const span = this.#begin(context, target, server);
    const call = new Call(span, server?.host ?? target.address ?? '');
    if (headers !== undefined) this.send(call, headers);
    return call;
  }

  /** Has a call that has started carry the trace on. */
  send({ span, host }: Call, headers: CallHeaders): void {
    this.#propagate(span, host, headers);
  }

  #begin(
    context: ActiveContext | undefined,
    target: CallTarget,
    server: http.HostAndPort | undefined,
  ): Span {
    const { method, scheme, authority, path } = target;
    const isRecorded = isRecordedBelow(context);
    if (
      isRecorded &&
      server !== undefined &&
      target.address === undefined &&
      isOfHttp(scheme) &&
      isPath(path)
    ) {
      const protocol = protocolOf(NO_VERSION, 0, scheme === 'https');
      const template = this.#templates.find(protocol, method, authority);
      if (template !== undefined) {
        return spans.startIn(context, template, undefined, pathOf(path));
      }
    }
    // What is below a span that is not recorded needs ids alone.
    const attributes = isRecorded ? callAttributes(target, server, pathOf(path)) : undefined;
    const name = http.spanName(http.knownMethod(method));
    return spans.startIn(context, clientPrefix(name), attributes);
  }

  /** As `start`, of a call of gRPC: the caller ends its span. */
  startGrpc({ authority, path }: CallTarget, headers: CallHeaders | undefined): Span {
    const { name, attributes } = describeGrpc(path, authority);
    const context = this.#hasContext ? spans.activeContext() : undefined;
    const span = spans.startIn(context, clientPrefix(name), attributes);
    if (headers !== undefined)
      this.#propagate(span, http.hostAndPort(authority)?.host ?? '', headers);
    return span;
  }

  #propagate(span: Span, host: string, headers: CallHeaders): void {
    if (span.activeSpan === undefined || !this.#policy.sendsTrace(host)) return;
    const baggage = this.#policy.sendsBaggage(host) ? span.baggage : undefined;
    if (!spans.sendSpan(span, baggage, headers)) sendNextTo(span, headers);
  }
}

/** Another agent, or the program, has sent its parent. If it is of another trace, ours goes into `tracestate`. */
function sendNextTo(span: Span, headers: CallHeaders): void {
  const sent = headers.get(TRACE_PARENT);
  const own = traceParentOf(span, span.flags & SAMPLED);
  if (typeof sent !== 'string' || isOfSameTrace(sent, own) || isSigned(headers)) return;
  const traceState = headers.get(TRACE_STATE);
  const theirs = typeof traceState === 'string' ? traceState : '';
  headers.set(TRACE_STATE, withOwnParent(theirs, own, sentTraceState(span)));
}

/** A request that this thread sends, while it is recorded. */
export class Call {
  readonly #span: Span;
  /** Who gets it. */
  readonly host: string;
  /** Of an answer that the span does not have yet. */
  #status: number | undefined = undefined;
  #wait: Span | undefined = undefined;

  constructor(span: Span, host: string) {
    this.#span = span;
    this.host = host;
  }

  get span(): Span {
    return this.#span;
  }

  /** It waits for a connection of a pool from now on. */
  queue(): void {
    const span = this.#span;
    if (span.recording) {
      this.#wait = spans.startIn(span, spans.prefixOf('http pool', http.HTTP_SCOPE, INTERNAL));
    }
  }

  /** It has got its connection. Returns a wait that is worth a record, which the caller ends. */
  connect(): Span | undefined {
    const wait = this.#wait;
    this.#wait = undefined;
    if (wait?.recording !== true) return undefined;
    if (wait.output!.timeOf(undefined) - wait.start >= LEAST_WAIT) return wait;
    spans.discard(wait);
    return undefined;
  }

  /** The status has come. */
  answered(status: number): void {
    if (status < FAILED && status >>> 0 === status) {
      this.#status = status;
      return;
    }
    this.#status = undefined;
    const span = this.#span;
    span.set(http.STATUS_CODE, status);
    if (status < FAILED) return;
    span.set(http.ERROR_TYPE, String(status));
    span.markStatus(ERROR, '');
  }

  /**
   * It is over. Later calls do nothing.
   *
   * @param failure what failed; undefined: nothing did.
   */
  end(failure?: string): void {
    const span = this.#span;
    const status = this.#status;
    const wait = this.connect();
    if (wait !== undefined) {
      if (failure !== undefined) {
        wait.set(http.ERROR_TYPE, failure);
        wait.markStatus(ERROR, '');
      }
      wait.end();
    }
    if (status !== undefined) span.set(http.STATUS_CODE, status);
    if (failure !== undefined) {
      span.set(http.ERROR_TYPE, failure);
      span.markStatus(ERROR, '');
    }
    span.end();
  }
}

/** Whether a span with this context can be recorded. */
function isRecordedBelow(context: ActiveContext | undefined): boolean {
  const parent = context?.activeSpan;
  return parent === undefined || (parent.flags & SAMPLED) !== 0 || parent.state === REMOTE;
}

function portOf({ port }: http.HostAndPort, scheme: string): number {
  return port ?? (scheme === 'https' ? 443 : 80);
}

function clientPrefix(name: string): Prefix {
  return spans.prefixOf(name, http.HTTP_SCOPE, CLIENT);
}

/** The text is the path, without credentials and query. */
function callTemplate({ protocol, method, authority }: RequestKind): Prefix {
  const server = http.hostAndPort(authority);
  const target = { method, scheme: schemeOf(protocol), authority, address: undefined };
  const attributesOf = (path: string): Record<string, SpanValue> =>
    callAttributes(target, server, path);
  const name = http.spanName(method);
  return new Prefix(http.HTTP_SCOPE, name, CLIENT, attributesOf, true);
}

/**
 * The attributes of a call at its start.
 *
 * @param path without credentials and query.
 */
function callAttributes(
  target: Omit<CallTarget, 'path'>,
  server: http.HostAndPort | undefined,
  path: string,
): Record<string, string | number> {
  const { method, scheme, address } = target;
  const known = http.knownMethod(method);
  const attributes: Record<string, string | number> = { [http.METHOD]: known };
  if (known === OTHER_METHOD) attributes[http.ORIGINAL_METHOD] = method;
  if (address !== undefined) attributes[http.ADDRESS] = address;
  else if (server !== undefined) {
    attributes[http.ADDRESS] = server.host;
    attributes[http.PORT] = portOf(server, scheme);
  }
  const url = server === undefined ? undefined : urlOf(target, path);
  if (url !== undefined) attributes[http.FULL_URL] = url;
  return attributes;
}

/** Where other agents send what they have recorded: Sentry, New Relic, Elastic, Datadog. */
const UPLOADS =
  /^(?:\/api\/\d+\/envelope\/|\/agent_listener\/invoke_raw_method|\/intake\/v2\/events|\/v0\.\d\/(?:traces|config|stats)$|\/telemetry\/proxy\/|\/dogstatsd\/)/;

/** Reads what is active in a context manager that is not ours. */
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
function isLeftOut(method: string, path: string): boolean {
  return ((method === 'POST' || method === 'PUT') && UPLOADS.test(path)) || isSuppressed();
}
