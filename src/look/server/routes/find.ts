import { FOUND_STRETCHES, MOST_FOUND } from '../../wire/view-answers.js';
import type { FindLine } from '../../wire/view-answers.js';
import type { Condition } from '../../index/look-index.js';
import type { Question, Route } from '../route.js';
import { conditionOf } from '../rows/chosen-rows.js';

/** Matches come in lines at least so often, in ms. */
const LINE_MS = 50;

/** The rows that meet `where`, as they are found: lines of JSON. */
export const findRoute: Route = {
  path: '/data/find',
  method: 'GET',
  async answer(question) {
    const condition = await conditionOf(question.recording.index, question.query);
    return { stream: linesOf(question, condition) };
  },
};

async function* linesOf(
  { recording: { index }, signal }: Question,
  condition: Condition,
): AsyncGenerator<Uint8Array, void> {
  const isMarked = new Uint8Array(FOUND_STRETCHES);
  const perNs = FOUND_STRETCHES / Math.max(1, index.length);
  const emptyLine = (count: number): FindLine => {
    return { count, rows: [], starts: [], stretches: [], searched: 0, done: false };
  };
  let line = emptyLine(0);
  let sent = 0;
  let next = 0;
  for await (const { rows, upTo } of index.search(condition)) {
    if (signal.aborted) return;
    line.count += rows.length;
    // Blocks come in the order of the rows.
    line.searched = upTo / index.rows;
    const part = rows.length > 0 ? index.partOf(rows[0]!) : undefined;
    for (const row of rows) {
      const { start, offset, firstRow } = part!;
      const begin = start[row - firstRow]! + offset;
      const stretch = Math.min(FOUND_STRETCHES - 1, Math.max(0, Math.floor(begin * perNs)));
      if (isMarked[stretch] === 0) {
        isMarked[stretch] = 1;
        line.stretches.push(stretch);
      }
      if (sent === MOST_FOUND) continue;
      line.rows.push(row);
      line.starts.push(begin);
      sent += 1;
    }
    if (performance.now() < next) continue;
    next = performance.now() + LINE_MS;
    yield bytesOf(line);
    line = emptyLine(line.count);
  }
  yield bytesOf({ ...line, searched: 1, done: true });
}

function bytesOf(line: FindLine): Uint8Array {
  return Buffer.from(`${JSON.stringify(line)}\n`);
}
