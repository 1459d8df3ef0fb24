import { resolve } from 'node:path';
import { GrowingJoins } from './growing-joins.js';
import type { ReadSource } from './read-source.js';
import { joinSource } from './source-joins.js';
import type { SourceJoins } from './source-joins.js';

/** What one process has recorded in one trace: a file, or the pieces of a trace that rotates. */
export interface JoinedPieces {
  /** Of several pieces, the name under which the trace was opened. */
  path: string;
  /** In the order in which they were written. */
  pieces: readonly ReadSource[];
  joins: SourceJoins;
  /** What makes the joins as the trace grows. */
  growing: GrowingJoins | undefined;
}

/** Pieces with the same key are of one trace of one process; undefined: it is no piece. */
function keyOf({ trace, clock }: ReadSource): { key: string; path: string } | undefined {
  const path = resolve(trace.path);
  const { format } = trace;
  const opened = format.traceOf?.(path) ?? path;
  // Another process that wrote to the same name has another epoch.
  return opened === path
    ? undefined
    : { key: `${opened} ${clock.epoch}`, path: format.traceOf!(trace.path) };
}

/** Joins the pieces of traces that rotate; every other trace is its only piece. */
export class PieceJoiner {
  #known = new Map<string, JoinedPieces>();

  /** What has not changed since the last call is the same object. */
  join(read: readonly ReadSource[]): JoinedPieces[] {
    const groups = new Map<string, { path: string; pieces: ReadSource[] }>();
    for (const each of read) {
      const own = each.trace.path;
      const { key, path } = keyOf(each) ?? { key: own, path: own };
      const name = `${each.trace.format.name} ${key}`;
      const group = groups.get(name);
      if (group === undefined) groups.set(name, { path, pieces: [each] });
      else group.pieces.push(each);
    }
    const known = this.#known;
    this.#known = new Map();
    return [...groups].map(([name, { path, pieces }]) => {
      const before = known.get(name);
      const isSame =
        before?.pieces.length === pieces.length &&
        before.pieces.every((piece, i) => piece === pieces[i]);
      const joined = isSame ? before : joinedOf(path, pieces, before?.growing);
      this.#known.set(name, joined);
      return joined;
    });
  }
}

/** @param before has joined earlier readings of the trace. */
function joinedOf(
  path: string,
  pieces: readonly ReadSource[],
  before: GrowingJoins | undefined,
): JoinedPieces {
  const [first] = pieces;
  const parts = pieces.flatMap((piece) => piece.parts);
  if (pieces.length === 1) path = first!.trace.path;
  if (first!.joins.shapes.length === parts.length) {
    return { path, pieces, joins: first!.joins, growing: undefined };
  }
  if (before === undefined && pieces.every(({ state }) => state !== 'growing')) {
    return { path, pieces, joins: joinSource(parts), growing: undefined };
  }
  const growing = before ?? new GrowingJoins();
  return { path, pieces, joins: growing.join(parts, first!.joins), growing };
}
