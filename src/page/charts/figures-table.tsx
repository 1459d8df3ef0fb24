import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { cellText, isNumeric } from '../../look/report/print/tables/report-table.js';
import type { ReportColumn, ReportTable } from '../../look/report/print/tables/report-table.js';
import { countText } from '../../look/report/measures/units.js';
import { useMostSpare } from '../theme/use-most-spare.js';
import { Link } from '../shell/links.js';

const INDENT = '\u00a0\u00a0';

export interface FiguresTableProps<T> {
  /** Default: the title of the table. */
  caption?: string;
  table: ReportTable<T>;
  /** Rows that are shown at first; default: all. */
  few?: number;
  /** Renders a cell; undefined: its text. */
  cell?: (row: T, column: ReportColumn<T>, text: string, at: number) => ComponentChildren;
  /** The column by which rows are sorted; a click on the title of another calls `choose`. */
  sort?: { by: string; choose: (title: string) => void };
}

/** A table of the report, with the columns that `tracewright report` prints. */
export function FiguresTable<T>({
  table,
  caption = table.title,
  few = Infinity,
  cell,
  sort,
}: FiguresTableProps<T>) {
  const { rows, more, what } = table;
  const [isOpen, open] = useState(false);
  const [hasAll, showAll] = useState(false);
  const most = useMostSpare();
  const fits = ({ spare, title }: ReportColumn<T>): boolean => spare <= most || title === sort?.by;
  const columns = hasAll ? table.columns : table.columns.filter(fits);
  const left = table.columns.filter((column) => !columns.includes(column));
  const shown = isOpen ? rows : rows.slice(0, few);
  const hidden = rows.length - shown.length;
  if (rows.length === 0) return null;
  const head = columns.find(({ least = 0 }) => least > 8) ?? columns[0]!;
  return (
    <div class={hasAll ? 'figures-frame' : ''} tabIndex={hasAll ? 0 : undefined}>
      <table class="figures">
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Title key={column.title} column={column} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, at) => (
            <tr key={at}>
              {columns.map((column) => {
                const text = cellText(column, row);
                const content = cell?.(row, column, text, at) ?? text;
                const classes = classOf(column, row);
                return column === head && text !== '' ? (
                  <th key={column.title} scope="row" class={classes}>
                    {indentOf(column.prefix?.(row))}
                    {content}
                  </th>
                ) : (
                  <td key={column.title} class={classes}>
                    {content}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {left.length > 0 && (
        <p>
          <Link
            go={() => {
              showAll(true);
            }}
          >
            {countText(left.length)} more {left.length === 1 ? 'column' : 'columns'}
          </Link>
          : {left.map(({ title }) => title).join(', ')}
        </p>
      )}
      {hidden + more > 0 && (
        <p>
          {countText(hidden + more)} more {hidden + more === 1 ? singular(what) : what}
          {hidden > 0 ? ': ' : '.'}
          {hidden > 0 && (
            <Link
              go={() => {
                open(true);
              }}
            >
              show {more > 0 ? countText(hidden) : 'all'}
            </Link>
          )}
        </p>
      )}
    </div>
  );
}

/** `lines of code` without its first `s`, `processes` without `es`. */
function singular(what: string): string {
  return what.replace(/(?<=s)es$|s(?= of|$)/, '');
}

/** Branches of a tree as wide as they are: a screen reader is to read none. */
function indentOf(prefix = ''): string {
  return INDENT.repeat(prefix.length / 2);
}

interface TitleProps<T> {
  column: ReportColumn<T>;
  sort: FiguresTableProps<T>['sort'];
}

function Title<T>({ column, sort }: TitleProps<T>) {
  const { title, explanation } = column;
  const props = { scope: 'col', class: classOf(column), title: explanation } as const;
  if (sort === undefined || !isNumeric(column)) return <th {...props}>{title}</th>;
  const isSorted = title === sort.by;
  return (
    <th {...props} aria-sort={isSorted ? 'descending' : 'none'}>
      <Link
        go={() => {
          sort.choose(title);
        }}
      >
        {title}
        {isSorted ? ' ↓' : ''}
      </Link>
    </th>
  );
}

function classOf<T>(column: ReportColumn<T>, row?: T): string {
  return [
    isNumeric(column) || column.unit === 'change' ? 'number' : '',
    column.isProse === true ? 'prose' : '',
    column.unit === 'time' ? 'time' : '',
    row !== undefined && column.isBad?.(row) === true ? 'bad' : '',
    row !== undefined && column.isGood?.(row) === true ? 'good' : '',
  ]
    .filter((name) => name !== '')
    .join(' ');
}
