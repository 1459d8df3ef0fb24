import { isCallOf } from '../index/index-row.js';
import type { IndexPart, LookIndex } from '../index/look-index.js';
import { SampledCalls } from '../report/names/call-target.js';
import { isInterruption } from '../report/names/interruption-kinds.js';
import { isMethod } from '../report/names/request-name.js';
import type { FrequentName } from '../wire/answers.js';
import { listedParts } from './rows/listed-parts.js';

/** Rows that are looked at: enough to know which names are frequent. */
const SAMPLE = 1 << 16;
/** Names that get colours of their own: as many as the page has. */
const MOST_FREQUENT = 9;

/**
 * The names of the most rows, the most frequent first: of spans, if there are any, and without those that have
 * colours of their own.
 */
export function frequentNames(index: LookIndex): FrequentName[] {
  const { rows } = index;
  const parts = listedParts(index, false);
  const counts = new Map<string, number>();
  /** Of names that only calls have; null: requests have it, too. */
  const calls = new Map<string, SampledCalls | null>();
  const step = Math.max(1, Math.floor(rows / SAMPLE));
  for (const part of parts) {
    const { name, names, count } = part;
    const own = new Map<number, number>();
    for (let at = 0; at < count; at += step) {
      const number = name[at]!;
      own.set(number, (own.get(number) ?? 0) + 1);
    }
    for (const [number, times] of own) {
      const text = names.text(number);
      counts.set(text, (counts.get(text) ?? 0) + times);
      if (isMethod(text)) addCalls(calls, text, index, part, number, step);
    }
  }
  const own = [...counts].filter(([text]) => !isInterruption(text));
  const order = own.sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
  return order
    .slice(0, MOST_FREQUENT)
    .map(([text]) => ({ name: text, targets: calls.get(text)?.targets ?? [] }));
}

function addCalls(
  calls: Map<string, SampledCalls | null>,
  text: string,
  index: LookIndex,
  part: IndexPart,
  number: number,
  step: number,
): void {
  const known = calls.get(text);
  if (known === null) return;
  const own = known ?? new SampledCalls();
  const { name, firstRow, count } = part;
  for (let at = 0; at < count; at += step) {
    if (name[at] !== number) continue;
    if (isCallOf(part.flags[at]!)) own.add(index, firstRow + at);
    else {
      calls.set(text, null);
      return;
    }
  }
  calls.set(text, own);
}
