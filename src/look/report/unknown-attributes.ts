import { rowAt } from '../index/index-row.js';
import { nearestName } from '../../core/nearest-name.js';
import type { LookIndex } from '../index/look-index.js';
import { sampledRows } from './samples.js';

/** Spans whose attributes are looked at. */
const MOST_SPANS = 500;

/** An attribute that was asked for and that no span has, and one that is called nearly so. */
export interface UnknownAttribute {
  name: string;
  near: string;
}

/** Names of attributes that look like a slip: spans have one that is called nearly so. */
export function unknownAttributes(index: LookIndex, asked: readonly string[]): UnknownAttribute[] {
  if (asked.length === 0) return [];
  const known = recordedNames(index);
  return asked.flatMap((name) => {
    const near = known.has(name) ? undefined : nearestName(name, known);
    return near === undefined ? [] : [{ name, near }];
  });
}

function recordedNames(index: LookIndex): Set<string> {
  const names = new Set<string>();
  for (const row of sampledRows(index, MOST_SPANS)) {
    if (rowAt(index, row).traceId === null) continue;
    for (const name of Object.keys(index.details(row))) names.add(name);
  }
  return names;
}
