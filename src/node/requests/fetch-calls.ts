import * as diagnostics from 'node:diagnostics_channel';
import type { ClientHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { BoundedCache } from '../../core/bounded-cache.js';
import { calledSocket } from '../../libraries/engine/called-socket.js';
import { TRACE_PARENT, TRACE_STATE } from '../../spans/context/header-format.js';
import { isOfSameTrace } from '../../spans/context/trace-context.js';
import { withOwnParent } from '../../spans/context/trace-state-entries.js';
import { spans } from '../../spans/shared-spans.js';
import { Guard } from '../guard.js';
import type { Call, CallHeaders, CallRecorder } from './call-recorder.js';
import { callTarget } from './call-target.js';
import type { CallTarget } from './call-target.js';
import { subscribe } from './channels.js';
import { failureOfReason } from './call-failures.js';

const CALL = Symbol('tracewright.call');
const OF_UNDICI = Symbol('tracewright.undici');

/** The parts of undici's request that its channels document. */
interface UndiciRequest {
  [CALL]?: UndiciCall | undefined;
  origin?: unknown;
  path?: unknown;
  method?: unknown;
  /** A flat list, or the text that is sent. */
  headers?: unknown;
  /** `websocket`: the connection leaves HTTP, and nothing is published of the request any more. */
  upgrade?: unknown;
  addHeader?: (name: string, value: string) => unknown;
}

type UndiciSocket = Socket & { [OF_UNDICI]?: true };

interface UndiciMessage {
  request: UndiciRequest;
  response?: { statusCode?: number };
  socket?: Socket;
  error?: unknown;
}

interface Origin {
  readonly scheme: string;
  readonly authority: string;
}

/** Origins that are kept, and how long they may be. */
const KEPT = 64;
const MAX_ORIGIN = 256;

const origins = new BoundedCache<Origin>(KEPT, MAX_ORIGIN, (origin) => {
  const [, scheme = '', authority = ''] = /^(https?):\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(origin) ?? [];
  return { scheme, authority };
});

/** Undici makes the text of an origin anew for each request: V8 has to hash it before it is found in a map. */
const last = { origin: '', found: origins.of('') };

function originOf(origin: string): Origin {
  if (origin !== last.origin) {
    last.found = origins.of(origin);
    last.origin = origin;
  }
  return last.found;
}

function targetOf({ method, origin, path }: UndiciRequest): CallTarget {
  const { scheme, authority } = originOf(String(origin));
  return callTarget(String(method), scheme, authority, String(path), calledSocket.path);
}

/** The position of a header's value in a flat list of names and values. */
function positionIn(headers: readonly unknown[], name: string): number {
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const each = headers[i];
    if (typeof each !== 'string' || each.length !== name.length) continue;
    if (each === name || each.toLowerCase() === name) return i + 1;
  }
  return -1;
}

/** The record of a request. One property of it: each more is a copy of its shape, and of its properties. */
class UndiciCall implements CallHeaders {
  readonly #request: UndiciRequest;
  /** Undefined: it is not recorded. */
  call: Call | undefined = undefined;
  /** The context in which the program has asked for it. */
  readonly context = spans.activeContext();
  /** Our parent, which the request has. */
  sent: string | undefined = undefined;
  /** Whether its connection has left HTTP, and ends with it. */
  hasLeftHttp = false;

  constructor(request: UndiciRequest) {
    this.#request = request;
  }

  get path(): string {
    return String(this.#request.path);
  }

  get(name: string): string | undefined {
    const { headers } = this.#request;
    if (typeof headers === 'string') {
      return new RegExp(`^${name}:[ \\t]*(.*?)\\r?$`, 'im').exec(headers)?.[1];
    }
    if (!Array.isArray(headers)) return undefined;
    const at = positionIn(headers, name);
    return at === -1 ? undefined : String(headers[at]);
  }

  delete(name: string): void {
    removeHeader(this.#request, name);
  }

  set(name: string, value: string): void {
    const request = this.#request;
    const { sent } = this;
    // This is no other agent.
    this.sent = undefined;
    removeHeader(request, name);
    if (name === TRACE_PARENT) {
      addParent(request, value);
      this.sent = value;
    } else {
      request.addHeader?.(name, value);
      this.sent = sent;
    }
  }
}

function removeHeader(request: UndiciRequest, name: string): void {
  const { headers } = request;
  if (typeof headers === 'string') {
    request.headers = headers.replace(new RegExp(`^${name}:.*\\r\\n`, 'im'), '');
  } else if (Array.isArray(headers)) {
    const at = positionIn(headers, name);
    if (at !== -1) headers.splice(at - 1, 2);
  }
}

/** The classes of undici's requests whose headers are watched. */
const watched = new WeakSet();
/** The one that was seen last: mostly there is no other. */
let lastWatched: UndiciRequest | undefined;
/** Whether its method for a header only puts name and value at the end of the list. */
let onlyAppends = false;

/** Adds our parent, which is valid: undici's method checks each character of it, for longer than a span takes. */
function addParent(request: UndiciRequest, value: string): void {
  const list = Array.isArray(request.headers) ? (request.headers as unknown[]) : undefined;
  if (onlyAppends && list !== undefined) {
    list.push(TRACE_PARENT, value);
    return;
  }
  const length = list?.length ?? 0;
  request.addHeader?.(TRACE_PARENT, value);
  onlyAppends =
    list !== undefined &&
    request.headers === list &&
    list.length === length + 2 &&
    list[length] === TRACE_PARENT &&
    list[length + 1] === value;
}

/**
 * Takes our header back when another agent adds its own, which may be called after us: undici sends both, and they
 * would be no valid header. Ours then goes into `tracestate`.
 */
function yieldToLater(request: UndiciRequest): void {
  const own = Object.getPrototypeOf(request) as UndiciRequest;
  if (own === lastWatched) return;
  lastWatched = own;
  onlyAppends = false;
  const { addHeader } = own;
  if (addHeader === undefined || watched.has(own)) return;
  watched.add(own);
  own.addHeader = function (this: UndiciRequest, name, value) {
    const headers = this[CALL];
    const sent = headers?.sent;
    if (headers === undefined || sent === undefined) return addHeader.call(this, name, value);
    const lower = name.toLowerCase();
    if (lower === TRACE_PARENT) {
      removeHeader(this, TRACE_PARENT);
      const traceState = headers.get(TRACE_STATE) ?? '';
      if (isOfSameTrace(value, sent)) headers.sent = undefined;
      else headers.set(TRACE_STATE, withOwnParent(traceState, sent, traceState));
    } else if (lower === TRACE_STATE) {
      removeHeader(this, TRACE_STATE);
      const ours = headers.get(TRACE_STATE) ?? '';
      return addHeader.call(this, name, withOwnParent(value, sent, ours));
    }
    return addHeader.call(this, name, value);
  };
}

/** Methods of a request that a connection calls, of any version: the handlers of the program are called by these. */
const CALLBACKS = [
  'onConnect',
  'onRequestStart',
  'onBodySent',
  'onRequestSent',
  'onHeaders',
  'onResponseStart',
  'onData',
  'onResponseData',
  'onUpgrade',
  'onRequestUpgrade',
  'onComplete',
  'onResponseEnd',
  'onError',
  'onResponseError',
];

type Callback = (this: UndiciRequest, ...values: unknown[]) => unknown;

/** The classes whose callbacks run in the context of their caller. */
const inContext = new WeakSet();

/** Has the callbacks of requests run where the program has asked for them, and not where their connection began. */
function callBackInContext(own: Record<string, unknown>): void {
  if (inContext.has(own)) return;
  inContext.add(own);
  for (const name of CALLBACKS) {
    const callback = own[name] as Callback | undefined;
    if (typeof callback !== 'function') continue;
    const inCallersContext: Callback = function (...values) {
      const call = this[CALL];
      if (call === undefined || call.context === spans.activeContext()) {
        return callback.apply(this, values);
      }
      return spans.applyIn(call.context, callback, this, values);
    };
    own[name] = inCallersContext;
  }
}

/** Methods that a connection calls with the status where a request leaves HTTP. Undici 7 publishes nothing of it. */
const UPGRADES = ['onUpgrade', 'onRequestUpgrade'];

const withUpgrades = new WeakSet();

function noteUpgrades(own: Record<string, unknown>): void {
  if (withUpgrades.has(own)) return;
  withUpgrades.add(own);
  for (const name of UPGRADES) {
    const callback = own[name] as Callback | undefined;
    if (typeof callback !== 'function') continue;
    const noted: Callback = function (...values) {
      const own = this[CALL];
      if (own !== undefined) {
        own.hasLeftHttp = true;
        if (typeof values[0] === 'number') own.call?.answered(values[0]);
      }
      return callback.apply(this, values);
    };
    own[name] = noted;
  }
}

function leavesHttp({ upgrade, method }: UndiciRequest): boolean {
  return typeof upgrade === 'string' || method === 'CONNECT';
}

/** Whether undici sends this session's requests, and so announces them itself. */
export function isUndiciSession(session: ClientHttp2Session): boolean {
  try {
    // The session's proxy of its socket has what the socket has.
    return (session.socket as UndiciSocket)[OF_UNDICI] === true;
  } catch {
    // It has no socket any more.
    return false;
  }
}

const CREATED = 'undici:request:create';

/** Fields of a channel of Node. They are not documented. */
interface Subscribers {
  readonly _subscribers?: readonly unknown[];
}

/**
 * Has a function called after all that others have subscribed. Some agents add no header to a request that has one, so
 * theirs come first.
 */
function beLast(channel: diagnostics.Channel, observe: (message: never) => void): void {
  const { _subscribers: all } = channel as Subscribers;
  if (all === undefined || all.at(-1) === observe) return;
  diagnostics.unsubscribe(channel.name, observe as (message: unknown) => void);
  diagnostics.subscribe(channel.name, observe as (message: unknown) => void);
}

/** Records every request that `fetch` and undici send from this thread, until its response's body is received. */
export function traceFetchCalls(recorder: CallRecorder, hasContext: boolean): void {
  const guard = new Guard('fetch requests');
  const created = diagnostics.channel(CREATED);
  let followsConnections = false;
  const create = guard.wrap<UndiciMessage>(({ request }) => {
    if (!followsConnections && leavesHttp(request)) {
      followsConnections = true;
      followConnections();
    }
    const prototype = Object.getPrototypeOf(request) as Record<string, unknown>;
    if (prototype !== lastWatched) {
      noteUpgrades(prototype);
      if (hasContext) callBackInContext(prototype);
    }
    yieldToLater(request);
    const own = new UndiciCall(request);
    own.call = recorder.start(targetOf(request), own);
    request[CALL] = own;
    beLast(created, create);
  });
  subscribe(CREATED, create as (message: unknown) => void);
  // Agents that start after the hook, before the program.
  setImmediate(beLast, created, create).unref();
  // Before the first request of a connection.
  guard.subscribe('undici:client:connected', ({ socket }: { socket?: UndiciSocket }) => {
    if (socket !== undefined) socket[OF_UNDICI] = true;
  });
  /** Fetch keeps requests that are over until V8 collects all memory: what is recorded of them does not stay too. */
  const end = (request: UndiciRequest, failure?: string): void => {
    const own = request[CALL];
    if (own === undefined) return;
    request[CALL] = undefined;
    own.call?.end(failure);
  };
  const close = guard.wrap<UndiciRequest>((request) => {
    end(request);
  });
  // Undici makes a message of each request for it, and hardly a program needs it.
  const followConnections = (): void => {
    guard.subscribe('undici:client:sendHeaders', ({ request, socket }: UndiciMessage) => {
      if (!leavesHttp(request)) return;
      socket?.once('close', () => {
        close(request);
      });
    });
  };
  guard.subscribe('undici:request:headers', ({ request, response }: UndiciMessage) => {
    request[CALL]?.call?.answered(response?.statusCode ?? 0);
  });
  guard.subscribe('undici:request:trailers', ({ request }: UndiciMessage) => {
    // Undici 8 says so of one that its connection outlives.
    if (request[CALL]?.hasLeftHttp !== true) end(request);
  });
  guard.subscribe('undici:request:error', ({ request, error }: UndiciMessage) => {
    end(request, failureOfReason(error));
  });
}
