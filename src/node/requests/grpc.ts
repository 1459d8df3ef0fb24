import type { IncomingHttpHeaders } from 'node:http';
import type { ClientHttp2Stream, ServerHttp2Stream } from 'node:http2';
import { grpcMethod, grpcStatus, SERVER_FAILURES } from '../../libraries/shared-grpc.js';
import type { Span } from '../../spans/span.js';
import type { Guard } from '../guard.js';
import { ABORTED, ADDRESS, ERROR_TYPE, hostAndPort, PORT } from './conventions.js';
import { failureOfStream, isGivenUp } from './http2-ends.js';

const METHOD = 'rpc.method';
const STATUS = 'rpc.response.status_code';
const ERROR = 2;
/** Of a method that the server does not have: callers can ask for any. */
const OTHER_METHOD = '_OTHER';

const CONTENT_TYPE = 'application/grpc';
/** The error of a call whose answer has no `grpc-status`, with a status of HTTP that says nothing either. */
const NO_STATUS = 'NO_GRPC_STATUS';
const HTTP_OK = 200;
const HTTP_FAILED = 500;
/** The code by which a client resets the stream of a call that it needs no more. */
const CANCEL = 8;

/** Whether a request of HTTP/2 is a call of gRPC: neither gRPC-Web nor Connect, which begin alike. */
export function isGrpc(contentType: unknown): boolean {
  return (
    typeof contentType === 'string' &&
    contentType.startsWith(CONTENT_TYPE) &&
    (contentType.length === CONTENT_TYPE.length || contentType[CONTENT_TYPE.length] === '+')
  );
}

/** The status of HTTP of an answer; undefined: none has come. */
function httpStatus(headers: IncomingHttpHeaders | undefined): number | undefined {
  const status = (headers as Record<string, unknown> | undefined)?.[':status'];
  return status === undefined ? undefined : Number(status);
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
  let answered: number | undefined;
  const read = guard.wrap<IncomingHttpHeaders>((headers) => {
    status ??= grpcStatus(headers['grpc-status']);
    answered ??= httpStatus(headers);
  });
  // The headers have it if the answer has nothing else.
  stream.once('response', read);
  stream.once('trailers', read);
  const failure = (): string | undefined => {
    if (status !== undefined) return status === 'OK' ? undefined : status;
    if (answered !== undefined && answered !== HTTP_OK) return String(answered);
    const failed = failureOfStream(stream, answered !== undefined);
    if (failed !== undefined || isGivenUp(stream)) return failed;
    return NO_STATUS;
  };
  const close = guard.wrap<undefined>(() => {
    endGrpc(span, status, failure());
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
  if (status !== undefined) {
    endGrpc(span, status, SERVER_FAILURES.includes(status) ? status : undefined);
  } else if (stream.rstCode === CANCEL) {
    endGrpc(span, 'CANCELLED', undefined);
  } else {
    endGrpc(span, undefined, failureWithoutStatus(httpStatus(headers)));
  }
}

/** The failure of a server that has sent no `grpc-status`. */
function failureWithoutStatus(answered: number | undefined): string | undefined {
  if (answered === undefined) return ABORTED;
  if (answered === HTTP_OK) return NO_STATUS;
  return answered < HTTP_FAILED ? undefined : String(answered);
}
