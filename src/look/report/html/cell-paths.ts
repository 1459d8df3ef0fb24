import { Html, markup } from './html-text.js';

/** Shades of a cell, from few to many. */
export const SHADES = 6;

/** The shade of a cell with this count, from 1; 0: it has none. Each shade is a factor more. */
export function shadeOf(count: number, most: number): number {
  if (count <= 0) return 0;
  if (most <= 1) return SHADES;
  return 1 + Math.min(SHADES - 1, Math.floor((SHADES * Math.log(count)) / (Math.log(most) + 1e-9)));
}

/** Cells of a grid as one path for each shade. Neighbours in a row are one rectangle. */
export function cellPaths(
  columns: number,
  rows: number,
  shade: (column: number, row: number) => number,
): Html {
  const paths = new Array<string>(SHADES + 1).fill('');
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns;) {
      const own = shade(column, row);
      let width = 1;
      while (column + width < columns && shade(column + width, row) === own) width++;
      if (own > 0) paths[own]! += `M${column} ${row}h${width}v1h-${width}z`;
      column += width;
    }
  }
  const drawn = paths.map((path, own) =>
    path === '' ? '' : new Html(`<path class="h${own}" d="${path}"/>`),
  );
  return markup`${drawn}`;
}
