import { cellText, isNumeric } from '../tables/report-table.js';
import type { ReportColumn, ReportTable } from '../tables/report-table.js';
import { countText } from '../../measures/units.js';
import { markup } from './html-text.js';
import type { Html } from './html-text.js';

/** Columns of texts that may be as wide take the room that there is. */
const WIDE = 16;

/** A column of a page. */
export interface HtmlColumn<T> extends ReportColumn<T> {
  /** A picture in place of the text. */
  picture?: (row: T) => Html;
}

/** `n`: a number, to the right. `w`: it takes the room. `x`: not on a narrow screen. */
function kindOf<T>(column: HtmlColumn<T>): string {
  if (isNumeric(column)) return 'n';
  if ((column.least ?? 0) >= WIDE) return 'w';
  return column.spare > 0 ? 'x' : '';
}

function cell<T>(column: HtmlColumn<T>, row: T): Html {
  if (column.picture !== undefined) return column.picture(row);
  const prefix = column.prefix?.(row) ?? '';
  const text = cellText(column, row);
  return prefix === '' ? markup`${text}` : markup`<span class="branch">${prefix}</span>${text}`;
}

/** A table of the report, and how many rows it leaves out. */
export function htmlTable<T>({
  columns,
  rows,
  more,
}: ReportTable<T> & { columns: readonly HtmlColumn<T>[] }): Html {
  const classOf = (column: HtmlColumn<T>, row?: T): string =>
    `${kindOf(column)}${row !== undefined && column.isBad?.(row) === true ? ' bad' : ''}`;
  const head = columns.map(
    (column) =>
      markup`<th class="${classOf(column)}"${column.explanation === undefined ? '' : markup` title="${column.explanation}"`}>${column.title}</th>`,
  );
  const body = rows.map((row) => {
    const cells = columns.map(
      (column) => markup`<td class="${classOf(column, row)}">${cell(column, row)}</td>`,
    );
    return markup`<tr>
      ${cells}
    </tr> `;
  });
  const rest = more > 0 ? markup`<p class="weak">${countText(more)} more are not shown.</p>` : '';
  return markup`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${body}
      </tbody>
    </table>
  </div>${rest}`;
}
