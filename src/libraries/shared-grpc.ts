import { shared } from '../core/process-state.js';

const calls = shared('libraries.grpc', () => ({ areRecorded: false }));

/** Calls of `@grpc/grpc-js` are recorded as such. */
export function noteRecordedGrpc(): void {
  calls.areRecorded = true;
}

/** Whether they are not to be recorded as the requests of HTTP/2 that they are. */
export function recordsGrpc(): boolean {
  return calls.areRecorded;
}

/** The names of gRPC's status codes. */
const NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
];

/** The name of a status; undefined: it is none. */
export function grpcStatus(code: unknown): string | undefined {
  return NAMES[Number(code ?? -1)];
}

/** Those with which a server has failed, by OpenTelemetry's conventions. The others are the caller's faults. */
export const SERVER_FAILURES: readonly (string | undefined)[] = [
  'UNKNOWN',
  'DEADLINE_EXCEEDED',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
];

const MAX_METHOD = 256;

/** The method of a call, such as `shop.Orders/Find`. */
export function grpcMethod(path: string): string {
  return path.replace(/^\//, '').slice(0, MAX_METHOD);
}
