import { entryOf } from '../core/map-entries.js';
import { counted } from '../core/readable-text.js';
import { faultOf } from './errors.js';
import { FollowedFiles } from './followed-files.js';
import type { ShipperOptions } from './shipper-options.js';

/** Yields a line for each service: what would be sent of the spans that are there now. */
export function* surveyTraces(
  options: Omit<ShipperOptions, 'refusedSpans'>,
): Generator<string, void> {
  const { paths, accepts, onFault, onMessage } = options;
  const files = new FollowedFiles(paths, new Map(), { ...options, onNote: onMessage });
  const services = new Map<string, { spans: number; unfinished: number }>();
  let count = 0;
  try {
    for (const { follower } of files.due()) {
      count++;
      try {
        for (const span of follower.read()) {
          if (span === undefined || accepts?.(span) === false) continue;
          const service = String(span.resource?.attributes['service.name'] ?? 'unknown');
          const own = entryOf(services, service, () => ({ spans: 0, unfinished: 0 }));
          own.spans++;
          if (span.unfinished) own.unfinished++;
        }
      } catch (error) {
        onFault(faultOf(follower.path, error));
      }
    }
  } finally {
    files.close();
  }
  for (const [service, { spans, unfinished }] of services) {
    const open = unfinished === 0 ? '' : `, ${unfinished} of them unfinished`;
    yield `${service}: ${counted(spans, 'span')}${open}`;
  }
  yield `${counted(count, 'file')} read, nothing sent`;
}
