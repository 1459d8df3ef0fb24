import { requiredText } from './engine/payload.js';
import type { Library, Operation } from './library.js';

/** Its `key`, `value` and `cache` are never read. */
interface Status {
  fetch?: unknown;
}

/** Where `fetch` has to wait for the program's `fetchMethod`, and what it is named. */
const WAITS: Readonly<Record<string, string>> = {
  miss: 'cache miss',
  stale: 'cache stale',
  refresh: 'cache refresh',
  inflight: 'cache in flight',
};

const fetch: Operation<Status> = {
  channel: 'lru-cache',
  kind: 'internal',
  needsParent: true,
  describe(message) {
    const name = WAITS[requiredText(message.fetch, 'fetch')];
    return name === undefined ? undefined : { name, attributes: {} };
  },
};

export const lruCache: Library = { name: 'lru-cache', operations: [fetch] };
