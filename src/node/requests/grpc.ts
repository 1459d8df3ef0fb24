import type { IncomingHttpHeaders } from 'node:http';
import type { ClientHttp2Stream, ServerHttp2Stream } from 'node:http2';
import { grpcMethod, grpcStatus, SERVER_FAILURES } from '../../libraries/shared-grpc.js';
import type { Span } from '../../spans/span.js';
import type { Guard } from '../guard.js';
import { ABORTED, ADDRESS, ERROR_TYPE, hostAndPort, PORT } from './conventions.js';

const METHOD = 'rpc.method';
const STATUS = 'rpc.response.status_code';
const ERROR = 2;
/** Of a method that the server does not have: callers can ask for any. */
const OTHER_METHOD = '_OTHER';

/** Whether a request of HTTP/2 is a call of gRPC. */
export function isGrpc(contentType: unknown): boolean {
  return typeof contentType === 'string' && contentType.startsWith('application/grpc');
}

/** The name and the attributes of a call's span. */
export function describeGrpc(
  path: string,
  authority: unknown,
): { name: string; attributes: Record<string, string | number> } {
  const name = grpcMethod(path);
  const attributes: Record<string, string | number> = { 'rpc.system.name': 'grpc', [METHOD]: name };
  const server = hostAndPort(authority);
  if (server !== undefined) attributes[ADDRESS] = server.host;
  if (server?.port !== undefined) attributes[PORT] = server.port;
  return { name, attributes };
}

/** @param status undefined: there is none, and it has failed. */
export function endGrpc(span: Span, status: string | undefined, failure: string | undefined): void {
  if (span.recording) {
    if (status !== undefined) span.set(STATUS, status);
    if (failure !== undefined) {
      span.set(ERROR_TYPE, failure);
      span.markStatus(ERROR, '');
    }
  }
  span.end();
}

/** Ends the span of a call that a client sends. */
export function followGrpcCall(guard: Guard, stream: ClientHttp2Stream, span: Span): void {
  let status: string | undefined;
  const read = guard.wrap<IncomingHttpHeaders>((headers) => {
    status ??= grpcStatus(headers['grpc-status']);
  });
  // The headers have it if the answer has nothing else.
  stream.once('response', read);
  stream.once('trailers', read);
  const close = guard.wrap<undefined>(() => {
    endGrpc(span, status, status === 'OK' ? undefined : (status ?? ABORTED));
  });
  stream.once('close', () => {
    close(undefined);
  });
}

/** Ends the span of a call that a server has received. */
export function endServedGrpc(stream: ServerHttp2Stream, span: Span): void {
  const headers = stream.sentHeaders as IncomingHttpHeaders | undefined;
  const trailers = stream.sentTrailers as IncomingHttpHeaders | undefined;
  const status = grpcStatus(trailers?.['grpc-status'] ?? headers?.['grpc-status']);
  if (status === 'UNIMPLEMENTED') {
    span.rename(OTHER_METHOD);
    span.set(METHOD, OTHER_METHOD);
  }
  const failure = SERVER_FAILURES.includes(status) ? status : undefined;
  endGrpc(span, status, status === undefined ? ABORTED : failure);
}
