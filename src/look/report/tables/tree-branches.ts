/** Deeper rows are indented no further. */
const MAX_INDENT = 12;

/** Branches in front of the names of a tree's rows, which come in the order of the tree. */
export function branches(rows: readonly { depth: number }[]): string[] {
  const texts = new Array<string>(rows.length);
  /** Whether another row of this depth follows in the same branch. */
  const follows: boolean[] = [];
  for (let at = rows.length - 1; at >= 0; at--) {
    const { depth } = rows[at]!;
    const shown = Math.min(depth, MAX_INDENT);
    let text = '';
    for (let level = 1; level < shown; level++) text += follows[level] === true ? '│ ' : '  ';
    if (depth > MAX_INDENT) text += `(${depth}) `;
    else if (depth > 0) text += follows[depth] === true ? '├ ' : '└ ';
    texts[at] = text;
    follows.length = depth;
    follows[depth] = true;
  }
  return texts;
}
