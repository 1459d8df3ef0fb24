import { markup } from './html-text.js';
import type { Html, HtmlValue } from './html-text.js';

/** A column of a table of rows `T`. */
export interface HtmlColumn<T> {
  title: string;
  cell: (row: T) => HtmlValue;
  /** `n`: a number, to the right. `w`: the column that takes the room. `x`: not on a narrow screen. */
  kind?: 'n' | 'w' | 'x';
  isBad?: (row: T) => boolean;
}

export function htmlTable<T>(columns: readonly HtmlColumn<T>[], rows: readonly T[]): Html {
  const classOf = ({ kind, isBad }: HtmlColumn<T>, row?: T): string =>
    `${kind ?? ''}${row !== undefined && isBad?.(row) === true ? ' bad' : ''}`;
  const head = columns.map((column) => markup`<th class="${classOf(column)}">${column.title}</th>`);
  const body = rows.map((row) => {
    const cells = columns.map(
      (column) => markup`<td class="${classOf(column, row)}">${column.cell(row)}</td>`,
    );
    return markup`<tr>
      ${cells}
    </tr> `;
  });
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
  </div>`;
}
