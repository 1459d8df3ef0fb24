import type { ClientRequest } from 'node:http';
import type { CallHeaders } from './call-recorder.js';
import { EarlyHeaders } from './early-headers.js';

/** The headers of a request, which go to it. */
function headersOf(request: ClientRequest): CallHeaders {
  return {
    path: request.path,
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

/**
 * Has `send` add to the headers of a request of node:http.
 *
 * @param headers as Node has them: the request's own, none, or a list of the program.
 * @returns those that Node is to send.
 */
export function withHeaders(
  request: ClientRequest,
  headers: unknown,
  send: (headers: CallHeaders) => void,
): unknown {
  if (typeof headers === 'object' && headers !== null && !Array.isArray(headers)) {
    send(headersOf(request));
    return headers;
  }
  const list = listOf(Array.isArray(headers) ? headers : []);
  if (list === undefined) return headers;
  const own = new EarlyHeaders(list, request.path);
  send(own);
  return own.all;
}
