/** The mark by which the hook's threads and conversions count requests in ovni. */

/** Mark type of the requests that a thread is serving. */
export const IN_FLIGHT = 0;
export const IN_FLIGHT_TITLE = 'HTTP requests in flight';
/** A mark is never 0, so a count of requests is one more: viewers subtract what is given here. */
export const COUNTERS = { [IN_FLIGHT]: 1 };
/** Node's threads are not pinned: they run on the loom's virtual CPU, which any number may share. */
export const VIRTUAL_CPU = -1;

/** Label of a mark of so many requests. */
export function requestsLabel(count: number): string {
  return count === 0 ? 'idle' : count === 1 ? '1 request' : `${count} requests`;
}
