import { BoundedCache } from '../../core/bounded-cache.js';
import { version } from '../../core/version.js';
import { METHODS, OTHER_METHOD, OTHER_METHOD_NAME, SCHEMA_URL } from '../../spans/conventions.js';
import { Scope } from '../../spans/scope.js';

/** Names and values of OpenTelemetry's semantic conventions for HTTP spans. No other file has them. */

/** The scope of the spans of requests, and their conventions. */
export const HTTP_SCOPE = new Scope('tracewright/register', version, SCHEMA_URL);

export const METHOD = 'http.request.method';
export const ORIGINAL_METHOD = 'http.request.method_original';
export const STATUS_CODE = 'http.response.status_code';
export const RESPONSE_BYTES = 'http.response.size';
export const ROUTE = 'http.route';
export const PATH = 'url.path';
export const FULL_URL = 'url.full';
export const ADDRESS = 'server.address';
export const PORT = 'server.port';
export const PROTOCOL = 'network.protocol.name';
export const ERROR_TYPE = 'error.type';

/** Of functions of frameworks that were not worth a span. Not of the conventions. */
export const MIDDLEWARE_COUNT = 'tracewright.middleware.count';
export const MIDDLEWARE_MS = 'tracewright.middleware.ms';

/** The value of `error.type` where there is neither a status nor a code. */
export const OTHER = '_OTHER';
/** Of a connection that was closed before the exchange was over. Not of the conventions. */
export const ABORTED = 'aborted';

const KNOWN_METHODS = new Set(METHODS);
/** The known method that was asked for last. */
let lastMethod = 'GET';

/** The method as spans record it: what the conventions do not know would be of any number. */
export function knownMethod(method: string): string {
  // Most requests have the method of the one before, and the set is a call of V8's runtime.
  if (method === lastMethod) return lastMethod;
  if (!KNOWN_METHODS.has(method)) return OTHER_METHOD;
  lastMethod = method;
  return method;
}

/** The name of a span without a route, by the method as spans record it. */
export function spanName(known: string): string {
  return known === OTHER_METHOD ? OTHER_METHOD_NAME : known;
}

/** The attributes of a server request at its start, the path last. A literal: V8 makes one of a shape for all. */
export function serverAttributes(
  method: string,
  scheme: string,
  version: string | undefined,
  host: string | undefined,
  port: number | undefined,
  path: string,
): Record<string, string | number | undefined> {
  return {
    'http.request.method': method,
    'url.scheme': scheme,
    'network.protocol.version': version,
    'server.address': host,
    'server.port': port,
    'url.path': path,
  };
}

/** Where a server is. An address of IPv6 has no brackets. */
export interface HostAndPort {
  readonly host: string;
  readonly port?: number;
}

/** Authorities that are kept, and how long they may be. */
const KEPT = 64;
const MAX_AUTHORITY = 256;

const authorities = new BoundedCache<HostAndPort | null>(KEPT, MAX_AUTHORITY, (authority) => {
  const match = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i.exec(authority);
  if (match === null) return null;
  const [, address, name, port] = match;
  const host = (address ?? name)!;
  return port === undefined ? { host } : { host, port: Number(port) };
});

/** Host and port of an authority, such as that of the header `Host`; undefined if it is none. */
export function hostAndPort(authority: unknown): HostAndPort | undefined {
  if (typeof authority !== 'string' || authority.length > MAX_AUTHORITY) return undefined;
  return authorities.of(authority) ?? undefined;
}
