import { NO_TRACE } from '../index/look-index.js';
import type { LookIndex } from '../index/look-index.js';
import type { Steps } from '../index/turns.js';
import { isRequest } from './groups.js';

/** Requests of a source that are looked at. */
const MOST_REQUESTS = 1000;

/** Services, or else paths, whose requests have no context. Older hooks recorded such requests without ids. */
export function* servicesWithoutContext({ sources, parts }: LookIndex): Steps<string[]> {
  const found = new Set<string>();
  for (const { number, service, path, withoutContext } of sources) {
    let [requests, withoutIds] = [0, 0];
    for (const { source, flags, trace, count } of parts) {
      if (source.number !== number) continue;
      yield;
      for (let at = 0; at < count && requests < MOST_REQUESTS; at++) {
        if (!isRequest(flags[at]!)) continue;
        requests++;
        if (trace[at] === NO_TRACE) withoutIds++;
      }
      if (requests === MOST_REQUESTS) break;
    }
    // Those that were open when the process died have ids.
    const isOld = withoutIds > requests / 2;
    if (isOld || (withoutContext && requests > 0)) found.add(service ?? path);
  }
  return [...found];
}
