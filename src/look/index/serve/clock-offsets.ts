import { entryOf } from '../../../core/map-entries.js';
import { KINDS, SERVER } from '../../../spans/layout.js';
import { KIND_MASK, NO_PARENT, UNFINISHED_BIT } from '../look-index.js';
import type { IndexPart } from '../look-index.js';
import { partAt } from '../sources/join-parents.js';

const CLIENT = KINDS.indexOf('client');
/** Calls between two hosts of which the offset is estimated, at most. */
const MAX_CALLS = 1 << 16;

/** How far the clock of a host is from that of the first host, as its calls show. */
export interface ClockOffset {
  /** Ns that are added to its times. */
  offset: number;
  /** The offset is right within so many ns, if no clock was set meanwhile. */
  error: number;
}

/** Bounds from calls between two hosts: the offset of the called one lies in each [low, high]. */
interface Calls {
  low: number[];
  high: number[];
}

/**
 * Estimates the clocks of hosts. A request lies within the call that caused it, so each pair of both bounds
 * the difference of their clocks, from both sides. The shortest ways there and back decide.
 *
 * @param hosts host by source; a source without one is left out.
 * @returns by host; a host that no call connects with the first one is absent.
 */
export function estimateClocks(
  parts: readonly IndexPart[],
  hosts: ReadonlyMap<number, string>,
): Map<string, ClockOffset> {
  const offsets = new Map<string, ClockOffset>();
  const [first] = hosts.values();
  if (first === undefined || new Set(hosts.values()).size < 2) return offsets;
  const between = callsBetween(parts, hosts);
  offsets.set(first, { offset: 0, error: 0 });
  const reached = [first];
  for (let host = reached.shift(); host !== undefined; host = reached.shift()) {
    const own = offsets.get(host)!;
    for (const [other, link] of linksOf(between, host)) {
      if (offsets.has(other)) continue;
      offsets.set(other, { offset: own.offset + link.offset, error: own.error + link.error });
      reached.push(other);
    }
  }
  return offsets;
}

function keyOf(caller: string, called: string): string {
  return JSON.stringify([caller, called]);
}

function callsBetween(
  parts: readonly IndexPart[],
  hosts: ReadonlyMap<number, string>,
): Map<string, Calls> {
  const between = new Map<string, Calls>();
  for (const part of parts) {
    const called = hosts.get(part.source.number);
    if (called === undefined) continue;
    const { parent, flags, start, duration, offset } = part;
    for (let row = 0; row < parent.length; row++) {
      const parentRow = parent[row]!;
      if (parentRow <= NO_PARENT || (flags[row]! & KIND_MASK) !== SERVER) continue;
      if (parentRow >= part.firstRow && parentRow < part.firstRow + part.count) continue;
      const other = partAt(parts, parentRow);
      const caller = hosts.get(other.source.number);
      if (caller === undefined || caller === called) continue;
      const at = parentRow - other.firstRow;
      const isWhole = ((flags[row]! | other.flags[at]!) & UNFINISHED_BIT) === 0;
      if (!isWhole || (other.flags[at]! & KIND_MASK) !== CLIENT) continue;
      const low = other.start[at]! + other.offset - (start[row]! + offset);
      const high = low + other.duration[at]! - duration[row]!;
      // One that lasts longer than its call was not waited for.
      if (high < low) continue;
      const key = keyOf(caller, called);
      const calls = between.get(key) ?? { low: [], high: [] };
      between.set(key, calls);
      if (calls.low.length === MAX_CALLS) continue;
      calls.low.push(low);
      calls.high.push(high);
    }
  }
  return between;
}

/** The hosts that a host calls or is called by, with what is to be added to their clocks for its own. */
function* linksOf(between: Map<string, Calls>, host: string): Generator<[string, ClockOffset]> {
  const links = new Map<string, Calls>();
  const linkTo = (other: string): Calls => {
    return entryOf(links, other, () => ({ low: [], high: [] }));
  };
  for (const [key, { low, high }] of between) {
    const [caller, called] = JSON.parse(key) as [string, string];
    if (caller === host) {
      const link = linkTo(called);
      for (const each of low) link.low.push(each);
      for (const each of high) link.high.push(each);
    } else if (called === host) {
      const link = linkTo(caller);
      for (const each of high) link.low.push(-each);
      for (const each of low) link.high.push(-each);
    }
  }
  for (const [other, { low, high }] of links) yield [other, offsetWithin(low, high)];
}

function offsetWithin(low: readonly number[], high: readonly number[]): ClockOffset {
  const least = low.reduce((limit, each) => Math.max(limit, each), -Infinity);
  const most = high.reduce((limit, each) => Math.min(limit, each), Infinity);
  if (least <= most) {
    // Clocks that can be right are left alone.
    const offset = least <= 0 && most >= 0 ? 0 : (least + most) / 2;
    return { offset, error: Math.max(most - offset, offset - least) };
  }
  // They drift, or one was set: no offset is right for all.
  const middles = Float64Array.from(low, (each, i) => (each + high[i]!) / 2).sort();
  const offset = middles[middles.length >> 1]!;
  return { offset, error: Math.max(least - offset, offset - most) };
}
