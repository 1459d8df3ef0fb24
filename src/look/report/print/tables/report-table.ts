import {
  bytesText,
  countText,
  durationText,
  rateText,
  shareText,
  timeText,
} from '../../measures/units.js';

/** How a value is written: durations are in ns, shares from 0 to 1, rates per second, times in ISO. */
const TEXTS = {
  text: String,
  /** A figure before and after. */
  change: String,
  number: String,
  count: countText,
  duration: durationText,
  rate: rateText,
  share: shareText,
  bytes: bytesText,
  time: timeText,
} as const satisfies Record<string, ((value: string) => string) | ((value: number) => string)>;

type Value = string | number | null;

/** Before a figure that comes from histograms, or from a sample. */
export const ESTIMATE_MARK = '~';

/** A part of a list, and its figure. */
export type ListItem = readonly [name: string, figure: string];

/** A column of a table of rows `T`. Text, HTML, the page and docs/report-json.md show the same ones. */
export interface ReportColumn<T> {
  title: string;
  /** Explains the figure, if its title does not. */
  explanation?: string;
  unit: keyof typeof TEXTS;
  /** Null: nothing is known. A column without any value is left out. */
  value: (row: T) => Value;
  /** The first to go where there is little room has the highest. 0: it always stays. */
  spare: number;
  /** Characters to which a column of texts may be shortened. */
  least?: number;
  /** Sentences and lists lose their end if they are too long; names lose their middle, so that rows stay apart. */
  isProse?: boolean;
  /** Of a list: where there is little room, whole items go, and no figure is cut. */
  items?: (row: T) => readonly ListItem[];
  /** Branches in front of the text: the rows are a tree. */
  prefix?: (row: T) => string;
  /** Whether the value says that something failed. */
  isBad?: (row: T) => boolean;
  /** Whether it says that something became better. */
  isGood?: (row: T) => boolean;
  /** What is written where nothing is known; default: nothing. */
  unknown?: string;
  /** Whether the value is from a histogram or a sample: it has a mark then. */
  isEstimate?: (row: T) => boolean;
}

/** A table of the report: its columns, and as many of its rows as are shown. */
export interface ReportTable<T> {
  title: string;
  columns: readonly ReportColumn<T>[];
  rows: readonly T[];
  /** Rows that are not shown, and what they are. */
  more: number;
  what: string;
}

/** The first `limit` rows of a table, with the columns of which any row has a value. */
export function tableOf<T>(
  title: string,
  columns: readonly ReportColumn<T>[],
  rows: readonly T[],
  limit: number,
  what: string,
): ReportTable<T> {
  const shown = rows.slice(0, limit);
  const used = columns.filter(({ value }) => shown.some((row) => value(row) !== null));
  return { title, columns: used, rows: shown, more: Math.max(0, rows.length - limit), what };
}

/** Whether a column has numbers, which stand at its right. */
export function isNumeric<T>({ unit }: ReportColumn<T>): boolean {
  return unit !== 'text' && unit !== 'time';
}

/** A value as a person reads it; empty: nothing is known. */
export function cellText<T>({ unit, value, unknown, isEstimate }: ReportColumn<T>, row: T): string {
  const of = value(row);
  if (of === null) return unknown ?? '';
  const text = (TEXTS[unit] as (value: Value) => string)(of);
  return isEstimate?.(row) === true ? `${ESTIMATE_MARK}${text}` : text;
}

/** A column of a field of the rows; its title is the field's name, unless `more` has one. */
export function fieldColumn<T>(
  field: string & keyof T,
  unit: ReportColumn<T>['unit'],
  spare: number,
  more: Partial<ReportColumn<T>> = {},
): ReportColumn<T> {
  return { title: field, unit, value: (row) => row[field] as Value, spare, ...more };
}

/** A column of names and their figures: `GET /orders 212, POST /buy 40`. */
export function listColumn<T>(
  title: string,
  items: (row: T) => readonly ListItem[],
  spare: number,
  more: Partial<ReportColumn<T>> = {},
): ReportColumn<T> {
  const value = (row: T): Value =>
    items(row)
      .map((item) => item.join(' '))
      .join(', ') || null;
  return { title, unit: 'text', value, items, spare, least: 24, isProse: true, ...more };
}

/** The column of the service; undefined where no row has one. */
export function serviceColumn<T extends { service: string | null }>(
  spare: number,
): ReportColumn<T> {
  return fieldColumn('service', 'text', spare, { least: 8 });
}

/** The service of all rows, for the title; null: there are several. */
export function onlyService(rows: readonly { service: string | null }[]): string | null {
  const services = new Set(rows.map(({ service }) => service));
  return services.size === 1 ? [...services][0]! : null;
}

/**
 * The columns of the kind and the system: of several, they say which is which.
 *
 * @param ofKinds when the column of several kinds goes.
 */
export function kindColumns<T extends { kind: string | null; system: string | null }>(
  rows: readonly T[],
  ofKinds = 4,
): ReportColumn<T>[] {
  const spareOf = (key: 'kind' | 'system', several: number): number =>
    new Set(rows.map((row) => row[key])).size > 1 ? several : 8;
  return [
    fieldColumn('kind', 'text', spareOf('kind', ofKinds)),
    fieldColumn('system', 'text', spareOf('system', 3), { least: 8 }),
  ];
}

/** The column of the process. */
export function processColumn<T extends { pid: number | null }>(spare: number): ReportColumn<T> {
  return { title: 'process', unit: 'number', value: ({ pid }) => pid, spare };
}
