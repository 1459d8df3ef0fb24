import type { ClientHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';

const OF_UNDICI = Symbol('tracewright.undici');

/** Notes a connection that undici has made: `undici:client:connected` announces it before its first request. */
export function noteUndiciConnection(socket: Socket | undefined): void {
  if (socket !== undefined) (socket as { [OF_UNDICI]?: boolean })[OF_UNDICI] = true;
}

/** Whether undici sends this session's requests, and so announces them itself. */
export function isUndiciSession(session: ClientHttp2Session): boolean {
  try {
    // The session's proxy of its socket has what the socket has.
    return (session.socket as { [OF_UNDICI]?: boolean })[OF_UNDICI] === true;
  } catch {
    // It has no socket any more.
    return false;
  }
}
