import { terminalText } from '../../../../core/readable-text.js';
import type { ListItem } from '../tables/report-table.js';

/** Columns of a terminal that characters take: East Asian wide ones and emoji two, combining ones none. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
const NONE = /\p{Mn}|\p{Me}|[\u200b\u2060\ufeff]|\u200c|\u200d/u;
const ASCII = /^[\u0020-\u007e]*$/;

function widthOf(character: string): number {
  if (NONE.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Columns that a text takes. It has no control characters. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** The text, or its beginning and `…`, in at most so many columns. */
export function shortened(text: string, columns: number): string {
  // No character is narrower than nothing: what is far too long need not be measured.
  const head = text.length > 4 * columns + 64 ? text.slice(0, 4 * columns + 64) : text;
  if (head.length === text.length && displayWidth(text) <= columns) return text;
  let width = 0;
  let kept = '';
  for (const character of head) {
    width += widthOf(character);
    if (width > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/** In fewer columns an end says nothing. */
const LEAST_WITH_END = 8;

/** `GET …/:id/items`: the method of a route, and as many of its last parts as there is room for; undefined: it is none. */
function shortenedRoute(text: string, columns: number): string | undefined {
  const [, method, path] = /^([A-Z]+ )(\/.{1,500})$/.exec(text) ?? [];
  if (method === undefined) return undefined;
  const parts = path!.split('/').slice(1);
  const ends = parts.map((_, at) => `${method}…/${parts.slice(at).join('/')}`);
  return ends.find((end) => displayWidth(end) <= columns);
}

const CODE =
  /^(.{1,500}?) \((?:[^()]{0,500}\/)?([^()/]{1,200}(?:\.\w+|:\d+| from line \d+))\)(?=$|, called at | in )/;

/** `distan… (search.js:6)`: the file and its line stay, and as much of the function as there is room for. */
function shortenedCode(text: string, columns: number): string | undefined {
  const [code, name, file] = CODE.exec(text) ?? [];
  if (name === undefined) return undefined;
  const room = columns - displayWidth(file!) - 3;
  if (displayWidth(code!) < columns) return `${code!}…`;
  return room < 2 ? undefined : `${shortened(name, room)} (${file!})`;
}

/** The text, or its beginning, `…` and its end: what begins alike is still different. A route keeps its method, code its line. */
export function shortenedInside(text: string, columns: number): string {
  if (columns < LEAST_WITH_END || shortened(text, columns) === text)
    return shortened(text, columns);
  const known = shortenedRoute(text, columns) ?? shortenedCode(text, columns);
  if (known !== undefined) return known;
  const room = Math.floor((columns - 1) / 2);
  let width = 0;
  let end = '';
  for (const character of Array.from(text.slice(-4 * room)).reverse()) {
    width += widthOf(character);
    if (width > room) break;
    end = character + end;
  }
  return shortened(text, columns - room) + end;
}

/** In fewer columns a name of a list says nothing. */
const LEAST_NAME = 4;

/** As many items as there is room for, and how many more there are. A figure is never cut. */
export function shortenedList(items: readonly ListItem[], columns: number): string {
  const texts = items.map((item) => item.join(' '));
  const listOf = (count: number): string => {
    const more = count < items.length ? [`and ${items.length - count} more`] : [];
    return [...texts.slice(0, count), ...more].join(', ');
  };
  for (let count = items.length; count > 0; count--) {
    if (displayWidth(listOf(count)) <= columns) return listOf(count);
  }
  const [first] = items;
  if (first === undefined) return '';
  const rest = listOf(1).slice(first[0].length);
  const room = Math.max(LEAST_NAME, columns - displayWidth(rest));
  return shortened(shortenedInside(first[0], room) + rest, columns);
}

export function padded(text: string, columns: number, align: 'left' | 'right'): string {
  const missing = Math.max(0, columns - displayWidth(text));
  return align === 'left' ? text + ' '.repeat(missing) : ' '.repeat(missing) + text;
}

/** A space that is not before a unit, a bracket or the path of a route. */
const BREAK = / (?![%(/]|(?:[nµm]?s|min|h|(?:[KMGTPE]i)?B)\b)/;

/** A text in lines of at most so many columns, broken at spaces. A word that is too long keeps its end: code its line. */
export function* wrapped(text: string, width: number): Generator<string, void> {
  let line = '';
  for (const word of terminalText(text).split(BREAK)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      yield shortenedInside(line, width);
      line = '  ';
    }
    line += line.trim() === '' ? word : ` ${word}`;
  }
  yield shortenedInside(line, width);
}
