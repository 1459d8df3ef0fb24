import { codeAt, textLength } from '../../core/utf8.js';

const SLASH = 0x2f;
/** The target of a request that a proxy is to send on. */
const ABSOLUTE = /^(https?):\/\/(?:[^/?#]*@)?([^/?#]+)(.*)$/is;

/** Whom a request of this process calls: the server that is to answer it, and not a proxy that sends it on. */
export interface CallTarget {
  readonly method: string;
  readonly scheme: string;
  /** Host and port, as a URL has them; empty: the port is not known. */
  readonly authority: string;
  /** Of the request line, with the query. */
  readonly path: string;
  /** Where no host and port say it: the path of a unix socket, or a host alone. */
  readonly address: string | undefined;
}

/** Whether the target of a request line is a path: not `*`, the authority of `CONNECT`, or a URL. */
export function isPath(path: string): boolean {
  return textLength(path) > 0 && codeAt(path, 0) === SLASH;
}

/**
 * @param authority of the connection.
 * @param path as the request line has it.
 */
export function callTarget(
  method: string,
  scheme: string,
  authority: string,
  path: string,
  address: string | undefined,
): CallTarget {
  if (!isPath(path) && method !== 'CONNECT') {
    const [found, origin, host, rest] = ABSOLUTE.exec(path) ?? [];
    if (found !== undefined) {
      const own = rest === '' ? '/' : rest!;
      return {
        method,
        scheme: origin!.toLowerCase(),
        authority: host!,
        path: own,
        address: undefined,
      };
    }
  }
  return { method, scheme, authority, path, address };
}

/** The URL of a call, without credentials and query; undefined: it has none. */
export function urlOf(
  { method, scheme, authority }: Omit<CallTarget, 'path'>,
  path: string,
): string | undefined {
  if (authority === '' || method === 'CONNECT') return undefined;
  return `${scheme}://${authority}${isPath(path) ? path : ''}`;
}
