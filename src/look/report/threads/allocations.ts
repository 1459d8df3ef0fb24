import { entryOf } from '../../../core/map-entries.js';
import type { Profile } from '../../index/look-index.js';
import type { RowSelection } from '../measures/selection.js';
import type { Allocations } from '../shape/thread-shape.js';
import { Codes } from './profiled-code.js';
import type { Code } from '../names/code-text.js';

const MOST_OF_SERVICE = 20;

/** Of each thread the last profile of what was alive. Times are ns of the index. */
export function lastAllocations(
  profiles: readonly Profile[],
  from = -Infinity,
  to = Infinity,
): Profile[] {
  const last = new Map<string, Profile>();
  for (const profile of profiles) {
    const { part, source, offset } = profile;
    const at = part.from + offset;
    if (part.sizes.length === 0 || at < from || at > to) continue;
    const thread = `${source} ${part.thread}`;
    const known = last.get(thread);
    if (known === undefined || at > known.part.from + known.offset) last.set(thread, profile);
  }
  return [...last.values()];
}

/** What was alive last within the window, by the functions that had allocated it. */
export function allocations(
  { index, window }: RowSelection,
  profiles: readonly Profile[],
): Allocations[] {
  // The last ones are written after the last span.
  const to = window.to < index.length ? window.to : Infinity;
  const known = new Codes();
  const services = new Map<string | null, Map<Code, Allocations>>();
  for (const profile of lastAllocations(profiles, window.from, to)) {
    const service = index.sources[profile.source]!.service ?? null;
    const codes = known.of(profile);
    const own = entryOf(services, service, () => new Map<Code, Allocations>());
    for (const { node, bytes, count } of profile.part.sizes) {
      const code = codes(node);
      const sum = entryOf(own, code, () => {
        return { service, ...code, bytes: 0, objects: 0, share: 0 };
      });
      sum.bytes += bytes;
      sum.objects += count;
    }
  }
  return [...services.values()].flatMap((own) => {
    const all = [...own.values()];
    const total = all.reduce((sum, { bytes }) => sum + bytes, 0);
    return all
      .map((each) => ({ ...each, share: each.bytes / total }))
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, MOST_OF_SERVICE);
  });
}
