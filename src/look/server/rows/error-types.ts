import { nextTurn } from '../../index/turns.js';
import type { LookIndex } from '../../index/look-index.js';
import type { ErrorType, ErrorsAnswer } from '../../wire/panel-answers.js';

/** Failed spans whose records are read: some tenth of a second. */
const MOST_READ = 1000;
/** Spans that are read between two turns of the event loop. */
const READ_A_TURN = 50;
const TYPE = 'error.type';

/**
 * Why spans failed: by type, name and service, the most frequent first. Of more than `MOST_READ` spans as many,
 * taken evenly.
 *
 * @param rows failed spans.
 */
export async function errorTypes(
  index: LookIndex,
  rows: Int32Array,
  signal: AbortSignal,
): Promise<ErrorsAnswer> {
  const read = Math.min(rows.length, MOST_READ);
  const types = new Map<string, ErrorType>();
  for (let place = 0; place < read; place++) {
    if (place % READ_A_TURN === READ_A_TURN - 1) {
      await nextTurn();
      signal.throwIfAborted();
    }
    add(types, describe(index, rows[Math.floor((place * rows.length) / read)]!));
  }
  const order = [...types.values()].sort((a, b) => b.count - a.count);
  return { errors: rows.length, read, types: order };
}

function add(types: Map<string, ErrorType>, one: ErrorType): void {
  const key = JSON.stringify([one.type, one.name, one.service]);
  const known = types.get(key);
  if (known === undefined) types.set(key, one);
  else known.count += 1;
}

function describe(index: LookIndex, row: number): ErrorType {
  const part = index.partOf(row);
  const name = part.names.text(part.name[row - part.firstRow]!);
  const service = part.source.service ?? null;
  const span = index.span(row);
  const attribute = span?.attributes[TYPE];
  const exception = span?.events.findLast((event) => event.name === 'exception');
  const type = attribute ?? exception?.attributes['exception.type'] ?? null;
  const where = [
    'status=error',
    `name=${name}`,
    ...(service === null ? [] : [`service=${service}`]),
    // Only attributes of a span can be searched for.
    ...(attribute == null ? [] : [`${TYPE}=${String(attribute)}`]),
  ];
  return { type: type === null ? null : String(type), name, service, count: 1, where };
}
