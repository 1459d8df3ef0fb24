/** A row of a tree, in the order of the tree. */
interface TreeRow {
  depth: number;
  /** Ns. */
  duration: number;
}

/** So many of the rows of a tree: the longest, each with the rows above it, in their order. */
export function longestOfTree<Row extends TreeRow>(rows: readonly Row[], most: number): Row[] {
  if (rows.length <= most) return [...rows];
  const above = parentsOf(rows);
  const isShown = new Uint8Array(rows.length);
  let shown = 0;
  const longest = rows.map((_, at) => at).sort((a, b) => rows[b]!.duration - rows[a]!.duration);
  for (const at of longest) {
    const path: number[] = [];
    for (let next = at; next >= 0 && isShown[next] === 0; next = above[next]!) path.push(next);
    if (shown + path.length > most) continue;
    for (const each of path) isShown[each] = 1;
    shown += path.length;
    if (shown === most) break;
  }
  return rows.filter((_, at) => isShown[at] === 1);
}

/** By number of a row: the one above it; -1: none is. */
function parentsOf(rows: readonly TreeRow[]): Int32Array {
  const last: number[] = [];
  return Int32Array.from(rows, ({ depth }, at) => {
    last.length = Math.min(last.length, depth + 1);
    last[depth] = at;
    return depth === 0 ? -1 : (last[depth - 1] ?? -1);
  });
}
