import { basename, dirname, resolve } from 'node:path';
import { traceOf } from '../../../heph/read/living-pass.js';
import { pieceOf } from '../../../ovni/file-names.js';
import { formatOf } from './read-source.js';
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
}

/** Pieces with the same key are of one trace of one process; undefined: it is no piece. */
function keyOf({ trace, clock }: ReadSource): { key: string; path: string } | undefined {
  const path = resolve(trace.path);
  if (trace.format.name === 'Heph') {
    const opened = traceOf(path);
    // Another process that wrote to the same name has another epoch.
    return opened === path
      ? undefined
      : { key: `${opened} ${clock.epoch}`, path: traceOf(trace.path) };
  }
  if (trace.format.name !== 'ovni') return undefined;
  const piece = pieceOf(basename(path));
  if (piece === undefined) return undefined;
  const epoch = trace.format.epoch(trace.path);
  return { key: `${dirname(path)} ${piece.pid} ${epoch}`, path: trace.path };
}

/** Joins the pieces of traces that rotate; every other trace is its only piece. */
export class PieceJoiner {
  #known = new Map<string, JoinedPieces>();

  /** What has not changed since the last call is the same object. */
  join(read: readonly ReadSource[]): JoinedPieces[] {
    const groups = new Map<string, { path: string; pieces: ReadSource[] }>();
    for (const [i, each] of read.entries()) {
      const { key, path } = keyOf(each) ?? { key: `${i}`, path: each.trace.path };
      const name = `${formatOf(each.trace)} ${key}`;
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
      const joined = isSame ? before : joinedOf(path, pieces);
      this.#known.set(name, joined);
      return joined;
    });
  }
}

function joinedOf(path: string, pieces: readonly ReadSource[]): JoinedPieces {
  const [only] = pieces;
  if (pieces.length === 1) return { path: only!.trace.path, pieces, joins: only!.joins };
  return { path, pieces, joins: joinSource(pieces.flatMap(({ parts }) => parts)) };
}
