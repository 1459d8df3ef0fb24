import { MOST_FOUND } from '../../wire/panel-answers.js';
import type { FindLine } from '../../wire/panel-answers.js';
import type { Question, Route } from '../route.js';
import { conditionOf } from '../rows/chosen-rows.js';

/** Matches come in lines at least so often, in ms. */
const LINE_MS = 50;

/** The rows that meet `where`, as they are found: lines of JSON. */
export const findRoute: Route = {
  path: '/data/find',
  method: 'GET',
  answer(question) {
    const condition = conditionOf(question.query);
    return { stream: linesOf(question, condition) };
  },
};

async function* linesOf(
  { recording: { index }, signal }: Question,
  condition: ReturnType<typeof conditionOf>,
): AsyncGenerator<Uint8Array, void> {
  let line: FindLine = { count: 0, rows: [], starts: [], done: false };
  let sent = 0;
  let next = 0;
  for await (const rows of index.find(condition)) {
    if (signal.aborted) return;
    line.count += rows.length;
    const part = index.partOf(rows[0]!);
    for (const row of rows) {
      if (sent === MOST_FOUND) break;
      line.rows.push(row);
      line.starts.push(part.start[row - part.firstRow]! + part.offset);
      sent += 1;
    }
    if (performance.now() < next) continue;
    next = performance.now() + LINE_MS;
    yield bytesOf(line);
    line = { count: line.count, rows: [], starts: [], done: false };
  }
  yield bytesOf({ ...line, done: true });
}

function bytesOf(line: FindLine): Uint8Array {
  return Buffer.from(`${JSON.stringify(line)}\n`);
}
