import { OTHER_METHOD } from '../../spans/http-methods.js';
import * as http from './conventions.js';
import { pathOf } from './url-path.js';

/** Where a request goes that this process sends. */
export interface CallTarget {
  method: string;
  scheme: string;
  /** Host and port, as in the header `Host`. */
  authority: string;
  /** Of the request line, with the query. */
  path: string;
}

/** The headers of a request that is yet to be sent. */
export interface CallHeaders {
  has(name: string): boolean;
  set(name: string, value: string): void;
}

/** A request that this process sends, while it is recorded. */
export interface Call {
  /** The status has come. */
  answered(status: number): void;
  /**
   * It is over. Later calls do nothing.
   *
   * @param failure what failed; undefined: nothing did.
   */
  end(failure?: string): void;
}

/** How the requests that this process sends are recorded. */
export interface CallRecorder {
  /** @param headers undefined if it is too late to add one. */
  start(target: CallTarget, headers: CallHeaders | undefined): Call;
}

function portOf({ port }: http.HostAndPort, scheme: string): number {
  return port ?? (scheme === 'https' ? 443 : 80);
}

/** The attributes of a call at its start. `url.full` is without credentials and query. */
export function callAttributes(target: CallTarget): Record<string, string | number> {
  const { method, scheme, authority } = target;
  const known = http.knownMethod(method);
  const server = http.hostAndPort(authority);
  if (server !== undefined && known !== OTHER_METHOD) {
    // A literal: V8 makes one of a shape for all.
    return {
      'http.request.method': known,
      'server.address': server.host,
      'server.port': portOf(server, scheme),
      'url.full': `${scheme}://${authority}${pathOf(target.path)}`,
    };
  }
  const attributes: Record<string, string | number> = {
    'http.request.method': known,
  };
  if (known === OTHER_METHOD) attributes[http.ORIGINAL_METHOD] = method;
  if (server !== undefined) {
    attributes[http.ADDRESS] = server.host;
    attributes[http.PORT] = portOf(server, scheme);
    attributes[http.FULL_URL] = `${scheme}://${authority}${pathOf(target.path)}`;
  }
  return attributes;
}
