import { durationText } from '../units.js';
import type { SlowTrace, TreeRow } from '../report-shape.js';
import { nameWithTarget } from '../request-name.js';
import { textTable } from './text-table.js';
import type { Column } from './text-table.js';
import type { TextStyle } from './text-style.js';

/** From so many columns on there is room for bars. */
const BARS_FROM = 100;
/** Deeper rows are indented no further. */
const MAX_INDENT = 12;

/** Branches in front of the names of a tree's rows. */
export function branches(rows: readonly Pick<TreeRow, 'depth'>[]): string[] {
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

/** What is added to the name of a row. */
export function remarksOn(row: TreeRow): string {
  const remarks = [
    row.repeated > 1 ? `${row.repeated} times` : '',
    row.status === 'error' ? 'error' : '',
    row.unfinished ? 'unfinished' : '',
    row.missingParent ? 'its parent is missing' : '',
    // At the top it is said of the whole trace.
    row.depth > 0 && row.stalls > 0 ? `${durationText(row.stalls)} blocked` : '',
    row.depth > 0 && row.collections > 0 ? `${durationText(row.collections)} gc` : '',
  ].filter((remark) => remark !== '');
  return remarks.length === 0 ? '' : ` (${remarks.join(', ')})`;
}

function bar({ start, duration }: TreeRow, whole: number, columns: number): string {
  const from = Math.min(Math.floor((start / whole) * columns), columns - 1);
  const to = Math.min(
    Math.max(from + 1, Math.round(((start + duration) / whole) * columns)),
    columns,
  );
  return ' '.repeat(from) + '█'.repeat(to - from);
}

/** Lines of a trace's tree. */
export function* textTree(
  { rows }: SlowTrace,
  most: number,
  style: TextStyle,
): Generator<string, void> {
  const shown = rows.slice(0, most);
  const prefixes = branches(shown);
  const services = new Set(rows.map(({ service }) => service));
  const whole = rows.reduce((end, row) => Math.max(end, row.start + row.duration), 1);
  const columns: Column<{ row: TreeRow; prefix: string }>[] = [
    { title: 'time', align: 'right', spare: 0, cell: ({ row }) => durationText(row.duration) },
    { title: 'self', align: 'right', spare: 2, cell: ({ row }) => durationText(row.self) },
    { title: 'waited', align: 'right', spare: 1, cell: ({ row }) => durationText(row.waited) },
    {
      title: 'span',
      spare: 0,
      least: 16,
      cell: ({ row, prefix }) => prefix + nameWithTarget(row) + remarksOn(row),
      role: ({ row }) => (row.status === 'error' ? 'bad' : undefined),
    },
  ];
  if (services.size > 1) {
    columns.push({ title: 'service', spare: 3, least: 8, cell: ({ row }) => row.service ?? '' });
  }
  if (style.width >= BARS_FROM) {
    const room = Math.min(48, Math.floor(style.width / 4));
    columns.push({
      title: '',
      spare: 4,
      cell: ({ row }) => bar(row, whole, room),
      role: () => 'bar',
    });
  }
  yield* textTable(
    columns,
    shown.map((row, at) => ({ row, prefix: prefixes[at]! })),
    style,
  );
}
