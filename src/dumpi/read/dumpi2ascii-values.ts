import type { Field, FieldType, Status } from '../calls.js';
import { ANY_SOURCE, ANY_TAG, ROOT } from '../constants.js';
import { valueNames } from './dumpi2ascii-names.js';
import type { FieldValue } from './call-record.js';

/** The length that is printed for an array that ends with a NULL. */
const NULL_TERMINATED = -2;

/** Printed for an array that is empty or NULL. */
const IGNORED = '<IGNORED>';

/** A C string ends at its first NUL. */
export function printed(text: string): string {
  const end = text.indexOf('\0');
  return end === -1 ? text : text.slice(0, end);
}

export function rowCount({ count }: Field, counts: ReadonlyMap<string, number>): number {
  return counts.get(count!) ?? 0;
}

/** How many elements are printed for an array, and between the brackets after its name. */
function printedLength(field: Field, counts: ReadonlyMap<string, number>): number {
  if (field.count !== undefined) return counts.get(field.count) ?? 0;
  return field.rootOnly ? NULL_TERMINATED : counts.get('argc')!;
}

export function integerLine(type: FieldType, name: string, value: number): string {
  const names = valueNames[type];
  if (names !== undefined) return `${names.type} ${name}=${value} (${names.nameOf(value)})`;
  return `int ${name}=${value}${specialName(type, value)}`;
}

function specialName(type: FieldType, value: number): string {
  if (value === ROOT && (type === 'source' || type === 'dest')) return ' (MPI_ROOT)';
  if (value === ANY_SOURCE && type === 'source') return ' (MPI_ANY_SOURCE)';
  if (value === ANY_TAG && type === 'tag') return ' (MPI_ANY_TAG)';
  return '';
}

export function requestType(type: 'request' | 'ioRequest'): string {
  return type === 'request' ? 'MPI_Request' : 'MPIO_Request';
}

export function arrayLine(
  field: Field,
  value: FieldValue | undefined,
  counts: ReadonlyMap<string, number>,
): string {
  const { name, type } = field;
  const length = printedLength(field, counts);
  const elements = (value ?? []) as readonly unknown[];
  switch (type) {
    case 'status':
      return `MPI_Status ${name}[${length}]=${statusesText(elements as Status[], length)}`;
    case 'chars': {
      const texts = (elements as string[]).map((text) => `"${printed(text)}"`);
      if (length === 0 || value === undefined) return `string ${name}[${length}]=${IGNORED}`;
      // As many as the length says, or all of them without commas.
      const shown = length < 0 ? texts.join('') : texts.slice(0, length).join(', ');
      return `string ${name}[${length}]=[${shown}]`;
    }
    case 'request':
    case 'ioRequest':
      return `${requestType(type)} ${name}[${length}]=${listed(elements, length, -1)}`;
    case 'datatype':
    case 'info':
      return `${valueNames[type]!.type} ${name}[${length}]=[${leading(elements, length)}]`;
    case 'distribution':
      return `int ${name}[${length}]=[${leading(elements, length)}]`;
    default:
      return `int ${name}[${length}]=${listed(elements, length, 0)}`;
  }
}

/** An array, or that it was ignored: it is NULL, or its count is at most `ignoredCount`. */
function listed(elements: readonly unknown[], count: number, ignoredCount: number): string {
  if (elements.length === 0 || count <= ignoredCount) return IGNORED;
  return `[${leading(elements, count)}]`;
}

function leading(elements: readonly unknown[], count: number): string {
  return elements.slice(0, Math.max(0, count)).join(', ');
}

/** An array of arrays of integers: each on a line of its own, the last of which goes on. */
export function* integerRowsLines(
  field: Field,
  value: FieldValue | undefined,
  counts: ReadonlyMap<string, number>,
): Generator<string, void> {
  const { name, inner } = field;
  const rows = (value ?? []) as number[][];
  const title = `int ${name}[${rowCount(field, counts)}][${inner ?? 0}]=`;
  if (rows.length === 0) {
    yield title + IGNORED;
    return;
  }
  for (const [i, row] of rows.entries()) {
    yield `${i === 0 ? `${title}[` : ', '}[${row.join(', ')}]`;
  }
}

/** An array of arrays of strings: the inner ones end with a NULL and are printed without commas. */
export function textRowsLine(
  field: Field,
  value: FieldValue | undefined,
  counts: ReadonlyMap<string, number>,
): string {
  const rows = value as string[][] | undefined;
  const title = `string ${field.name}[${rowCount(field, counts)}][${NULL_TERMINATED}]=`;
  if (rows === undefined || rows.length === 0) return title + IGNORED;
  const texts = rows.map((row) => `[${row.map((text) => `"${printed(text)}"`).join('')}]`);
  return `${title}[${texts.join(', ')}]`;
}

export function statusesText(statuses: readonly Status[], count: number): string {
  if (count < 1 || statuses.length === 0) return IGNORED;
  const texts = statuses
    .slice(0, count)
    .map(
      ({ bytes, source, tag, cancelled, error }) =>
        `{bytes=${bytes}, cancelled=${cancelled}, source=${source}, tag=${tag}, error=${error}}`,
    );
  return `[${texts.join(', ')}]`;
}

/** A reading as the record's 16 bits of seconds say it, with nine digits of nanoseconds. */
