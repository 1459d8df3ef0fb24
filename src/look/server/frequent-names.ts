import type { LookIndex } from '../index/look-index.js';
import { isInterruption } from '../report/interruptions.js';
import { listedParts } from './rows/listed-parts.js';

/** Rows that are looked at: enough to know which names are frequent. */
const SAMPLE = 1 << 16;
/** Names that get colours of their own: as many as the page has. */
export const MOST_FREQUENT = 9;

/**
 * The names of the most rows, the most frequent first: of spans, if there are any, and without those that have
 * colours of their own.
 */
export function frequentNames(index: LookIndex): string[] {
  const { rows } = index;
  const parts = listedParts(index, false);
  const counts = new Map<string, number>();
  const step = Math.max(1, Math.floor(rows / SAMPLE));
  for (const { name, names, count } of parts) {
    const own = new Map<number, number>();
    for (let at = 0; at < count; at += step) {
      const number = name[at]!;
      own.set(number, (own.get(number) ?? 0) + 1);
    }
    for (const [number, times] of own) {
      const text = names.text(number);
      counts.set(text, (counts.get(text) ?? 0) + times);
    }
  }
  const own = [...counts].filter(([text]) => !isInterruption(text));
  const order = own.sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
  return order.slice(0, MOST_FREQUENT).map(([text]) => text);
}
