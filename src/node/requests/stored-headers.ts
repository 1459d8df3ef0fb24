import { channel } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { CallHeaders } from './call-recorder.js';
import { EarlyHeaders } from './early-headers.js';

/** The parts of a request that Node does not document. */
type Internals = ClientRequest & { _storeHeader: (firstLine: string, headers: unknown) => void };

/** Published when a request makes its headers, until something observes them. */
export const HEADERS_CHANNEL = 'tracewright:http.client.headers';

type Observer = (request: ClientRequest, headers: CallHeaders) => void;

let observer: Observer | undefined;
let isWrapped = false;

/** Sets what sees each request of node:http before its headers are made, and may add to them. It must not throw. */
export function observeHeaders(observe: Observer): void {
  observer = observe;
  wrapStoredHeaders();
}

/** The headers of a request, which go to it. */
function headersOf(request: ClientRequest): CallHeaders {
  return {
    get: (name) => request.getHeader(name),
    set: (name, value) => request.setHeader(name, value),
    delete: (name) => {
      request.removeHeader(name);
    },
  };
}

/** A list of names and values; undefined: Node refuses it. */
function listOf(headers: readonly unknown[]): unknown[] | undefined {
  if (Array.isArray(headers[0]))
    return (headers as unknown[][]).flatMap(([name, value]) => [name, value]);
  return headers.length % 2 === 0 ? [...headers] : undefined;
}

function observed(request: ClientRequest, headers: unknown): unknown {
  if (typeof headers === 'object' && headers !== null && !Array.isArray(headers)) {
    observer!(request, headersOf(request));
    return headers;
  }
  const list = listOf(Array.isArray(headers) ? headers : []);
  if (list === undefined) return headers;
  const own = new EarlyHeaders(list);
  observer!(request, own);
  return own.all;
}

/**
 * Wraps the one function that makes the headers of a request into text: of its constructor too, for headers that are a
 * list and for `Expect`.
 */
export function wrapStoredHeaders(): void {
  if (isWrapped) return;
  isWrapped = true;
  const first = channel(HEADERS_CHANNEL);
  const { ClientRequest: Request } = process.getBuiltinModule('node:http');
  const prototype = Request.prototype as Internals;
  const store = prototype._storeHeader;
  prototype._storeHeader = function _storeHeader(this: Internals, firstLine, headers) {
    if (observer === undefined) first.publish({ request: this });
    store.call(this, firstLine, observer === undefined ? headers : observed(this, headers));
  };
}
