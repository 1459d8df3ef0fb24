import { terminalText } from '../../../../core/readable-text.js';
import { countText } from '../../measures/units.js';
import { cellText, isNumeric } from '../tables/report-table.js';
import type { ReportColumn, ReportTable } from '../tables/report-table.js';
import {
  displayWidth,
  padded,
  shortened,
  shortenedInside,
  shortenedList,
  wrapped,
} from './display-width.js';
import type { TextRole, TextStyle } from './text-style.js';

/** A column for a terminal. */
export interface TextColumn<T> extends ReportColumn<T> {
  role?: TextRole;
  /** Default: texts to the left, numbers to the right. */
  align?: 'right';
}

const GAP = 2;
/** Of a text, where nothing else helps. */
const LEAST_WIDTH = 4;

interface Fitted<T> {
  column: TextColumn<T>;
  cells: string[];
  width: number;
  /** Columns that it takes if it has so many: a shortened cell may take fewer. */
  within: (width: number) => number;
}

function totalWidth(columns: readonly { width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width + GAP, -GAP);
}

/** Drops and shortens columns until they fit: names first, then the longest sentences and lists. */
function fit<T>(columns: Fitted<T>[], width: number): Fitted<T>[] {
  if (totalWidth(columns) <= width) return columns;
  let fitted = columns;
  const leastOf = new Map(
    columns.map((each) => [
      each,
      each.within(Math.min(each.width, each.column.least ?? each.width)),
    ]),
  );
  const least = (): number => totalWidth(fitted.map((each) => ({ width: leastOf.get(each)! })));
  for (;;) {
    const spare = Math.max(...fitted.map(({ column }) => column.spare));
    if (spare === 0 || least() <= width) break;
    fitted = fitted.filter(({ column }) => column.spare !== spare);
  }
  let excess = totalWidth(fitted) - width;
  const wordiness = ({ column, width: own }: Fitted<T>): number =>
    column.isProse === true ? own : Infinity;
  const byTurn = fitted.toSorted((a, b) => {
    const [first, second] = [wordiness(a), wordiness(b)];
    return first === second ? 0 : second - first;
  });
  const shrink = (each: Fitted<T>, least: number): void => {
    if (excess <= 0) return;
    const shorter = Math.min(each.width, Math.max(least, each.within(each.width - excess)));
    excess -= each.width - shorter;
    each.width = shorter;
  };
  for (const each of byTurn) shrink(each, leastOf.get(each)!);
  // Where there is no room even for that, figures stay whole.
  for (const each of byTurn) if (each.column.least !== undefined) shrink(each, LEAST_WIDTH);
  return fitted;
}

/**
 * Lines of a table, no wider than the terminal. Control characters in cells are escaped. Returns the lists that were cut,
 * each with what it is of.
 */
function* textTable<T>(
  columns: readonly TextColumn<T>[],
  rows: readonly T[],
  { width, paint }: TextStyle,
): Generator<string, string[]> {
  const cut: string[] = [];
  const fitted = fit(
    columns.map((column): Fitted<T> => {
      const cells = rows.map((row) =>
        terminalText((column.prefix?.(row) ?? '') + cellText(column, row)),
      );
      const widths = cells.map((cell) => (cell.length > width ? width : displayWidth(cell)));
      const within = (most: number): number =>
        Math.max(
          Math.min(displayWidth(column.title), most),
          ...cells.map((each, at) => displayWidth(shortCell(column, each, most, rows[at]))),
        );
      return { column, cells, within, width: Math.max(displayWidth(column.title), ...widths) };
    }),
    width,
  );
  const gap = ' '.repeat(GAP);
  const line = (textOf: (column: Fitted<T>, last: boolean) => string): string =>
    fitted.map((column, at) => textOf(column, at === fitted.length - 1)).join(gap);
  const cell = (
    text: string,
    { column, width: own }: Fitted<T>,
    last: boolean,
    row?: T,
  ): string => {
    const short = shortCell(column, text, own, row);
    const isRight = column.align === 'right' || isNumeric(column);
    return last && !isRight ? short : padded(short, own, isRight ? 'right' : 'left');
  };
  if (columns.some(({ title }) => title !== '')) {
    yield paint('weak', line((column, last) => cell(column.column.title, column, last)).trimEnd());
  }
  for (const [at, row] of rows.entries()) {
    yield line((column, last) => {
      const full = column.cells[at]!;
      const text = cell(full, column, last, row);
      if (column.column.items !== undefined && text.trimEnd() !== full) {
        cut.push(`${fitted[0]!.cells[at]!}, ${column.column.title}: ${full}`);
      }
      const { isBad, isGood, role: usual } = column.column;
      const role = isBad?.(row) === true ? 'bad' : isGood?.(row) === true ? 'good' : usual;
      return role === undefined ? text : paint(role, text);
    }).trimEnd();
  }
  return cut;
}

function shortCell<T>(
  { items, isProse }: ReportColumn<T>,
  text: string,
  columns: number,
  row: T | undefined,
): string {
  if (items !== undefined && row !== undefined) {
    const shown = items(row).map(([name, figure]) => [terminalText(name), figure] as const);
    return shortenedList(shown, columns);
  }
  return isProse === true ? shortened(text, columns) : shortenedInside(text, columns);
}

/**
 * A heading, and the lines below it; nothing of a table without rows.
 *
 * @param see what shows the rows that are left out.
 */
export function* sectionLines<T>(
  table: ReportTable<T>,
  style: TextStyle,
  lines?: Iterable<string>,
  see?: string,
): Generator<string, void> {
  if (table.rows.length === 0) return;
  yield '';
  for (const line of wrapped(table.title, style.width)) yield style.paint('heading', line);
  yield* lines ?? tableLines(table, style, see);
}

/** Lines of a table of the report, and how many rows it leaves out. */
export function* tableLines<T>(
  {
    columns,
    rows,
    more,
    what,
  }: Omit<ReportTable<T>, 'title'> & {
    columns: readonly TextColumn<T>[];
  },
  style: TextStyle,
  see?: string,
): Generator<string, void> {
  const cut = yield* textTable(columns, rows, style);
  // A section is complete.
  for (const text of see === undefined ? cut : []) {
    for (const line of wrapped(text, style.width)) yield style.paint('weak', line);
  }
  if (more === 0) return;
  const all = countText(rows.length + more);
  yield style.paint('weak', `${countText(more)} more of ${all} ${what}: see ${see ?? '--json'}`);
}
