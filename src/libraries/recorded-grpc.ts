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
