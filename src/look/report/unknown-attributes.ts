import { nearestName } from '../../core/nearest-name.js';
import { NO_TRACE } from '../index/look-index.js';
import type { Condition, LookIndex } from '../index/look-index.js';

/** Spans whose attributes are looked at, taken evenly. */
const MOST_SPANS = 500;

/** An attribute of a condition that no span has, and one that is called nearly so. */
export interface UnknownAttribute {
  name: string;
  near: string;
}

/** Names of a condition's attributes that look like a slip: spans have one that is called nearly so. */
export function unknownAttributes(
  index: LookIndex,
  { attributes = [] }: Condition,
): UnknownAttribute[] {
  if (attributes.length === 0) return [];
  const known = recordedNames(index);
  return attributes.flatMap(({ name }) => {
    const near = known.has(name) ? undefined : nearestName(name, known);
    return near === undefined ? [] : [{ name, near }];
  });
}

function recordedNames(index: LookIndex): Set<string> {
  const names = new Set<string>();
  const step = Math.max(1, Math.floor(index.rows / MOST_SPANS));
  for (let row = 0; row < index.rows; row += step) {
    const part = index.partOf(row);
    if (part.trace[row - part.firstRow] === NO_TRACE) continue;
    for (const name of Object.keys(index.details(row))) names.add(name);
  }
  return names;
}
