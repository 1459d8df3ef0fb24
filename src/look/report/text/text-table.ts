import { terminalText } from '../../../core/terminal-text.js';
import { displayWidth, padded, shortened } from './display-width.js';
import type { TextRole, TextStyle } from './text-style.js';

/** A column of a table of rows `T`. */
export interface Column<T> {
  title: string;
  cell: (row: T) => string;
  align?: 'left' | 'right';
  /** The first to go where there is no room has the highest. 0: it always stays. */
  spare: number;
  /** Least width of a column that may be shortened; a column without it is never. */
  least?: number;
  role?: (row: T) => TextRole | undefined;
}

const GAP = 2;

interface Fitted<T> {
  column: Column<T>;
  cells: string[];
  width: number;
}

function totalWidth(columns: readonly { width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width + GAP, -GAP);
}

/** Drops and shortens columns until they fit. */
function fit<T>(columns: Fitted<T>[], width: number): Fitted<T>[] {
  let fitted = columns;
  const least = (): number =>
    totalWidth(
      fitted.map(({ column, width: own }) => ({ width: Math.min(own, column.least ?? own) })),
    );
  for (;;) {
    const spare = Math.max(...fitted.map(({ column }) => column.spare));
    if (spare === 0 || least() <= width) break;
    fitted = fitted.filter(({ column }) => column.spare !== spare);
  }
  let excess = totalWidth(fitted) - width;
  for (const column of fitted.filter((each) => each.column.least !== undefined)) {
    if (excess <= 0) break;
    const shorter = Math.max(column.column.least!, column.width - excess);
    excess -= column.width - Math.min(shorter, column.width);
    column.width = Math.min(shorter, column.width);
  }
  return fitted;
}

/** Lines of a table, no wider than the terminal. Control characters in cells are escaped. */
export function* textTable<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  { width, paint }: TextStyle,
): Generator<string, void> {
  const fitted = fit(
    columns.map((column): Fitted<T> => {
      const cells = rows.map((row) => terminalText(column.cell(row)));
      const widths = cells.map((cell) => (cell.length > width ? width : displayWidth(cell)));
      return { column, cells, width: Math.max(displayWidth(column.title), ...widths) };
    }),
    width,
  );
  const gap = ' '.repeat(GAP);
  const line = (textOf: (column: Fitted<T>, last: boolean) => string): string =>
    fitted.map((column, at) => textOf(column, at === fitted.length - 1)).join(gap);
  const place = (text: string, { column, width: own }: Fitted<T>, last: boolean): string => {
    const short = shortened(text, own);
    return last && column.align !== 'right' ? short : padded(short, own, column.align ?? 'left');
  };
  if (columns.some(({ title }) => title !== '')) {
    yield paint('weak', line((column, last) => place(column.column.title, column, last)).trimEnd());
  }
  for (const [at, row] of rows.entries()) {
    yield line((column, last) => {
      const text = place(column.cells[at]!, column, last);
      const role = column.column.role?.(row);
      return role === undefined ? text : paint(role, text);
    }).trimEnd();
  }
}
