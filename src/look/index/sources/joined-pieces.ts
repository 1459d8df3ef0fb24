import { resolve } from 'node:path';
import { GrowingJoins } from './growing-joins.js';
import type { ReadSource } from './read-source.js';
import { joinSource } from './source-joins.js';
import type { SourceJoins } from './source-joins.js';

/** One trace of one process: a file, or the pieces of a trace that rotates. */
export interface JoinedPieces {
  /** Of several pieces, the name under which the trace was opened. */
  path: string;
  /** In the order in which they were written. */
  pieces: readonly ReadSource[];
  joins: SourceJoins;
  /** Makes the joins as the trace grows. */
  growing: GrowingJoins | undefined;
}

/** The name under which the trace of a piece was opened; undefined: it is no piece. */
function openedAs({ trace: { format, path } }: ReadSource): string | undefined {
  const opened = format.traceOf?.(resolve(path));
  return opened === resolve(path) ? undefined : opened;
}

/** Epochs by the names under which traces were opened: of the last piece that has one. */
function lastEpochs(read: readonly ReadSource[]): Map<string | undefined, bigint> {
  const epochs = new Map<string | undefined, bigint>();
  for (const each of read) {
    if (each.clock.first !== undefined) epochs.set(openedAs(each), each.clock.first);
  }
  return epochs;
}

/** Joins the pieces of traces that rotate; every other trace is its only piece. */
export class PieceJoiner {
  #known = new Map<string, JoinedPieces>();

  /** Joins the pieces. Unchanged ones are the same objects as at the last call. */
  join(read: readonly ReadSource[]): JoinedPieces[] {
    const groups = new Map<string, { path: string; pieces: ReadSource[] }>();
    const epochs = lastEpochs(read);
    for (const each of read) {
      const { format, path: own } = each.trace;
      const opened = openedAs(each);
      // Another process that wrote to the same name has another epoch. The piece that has just begun says none yet.
      const key =
        opened === undefined ? own : `${opened} ${each.clock.first ?? epochs.get(opened)}`;
      const path = opened === undefined ? own : format.traceOf!(own);
      const name = `${format.name} ${key}`;
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
