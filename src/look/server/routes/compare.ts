import { compareErrors } from '../../compare/compare-errors.js';
import { compareGroups } from '../../compare/compare-groups.js';
import type { RowsOfSide } from '../../compare/compare-groups.js';
import type { CompareAnswer } from '../../wire/panel-answers.js';
import type { Route } from '../route.js';
import { chosenRows, conditionOfText } from '../rows/chosen-rows.js';
import { WrongQuestion } from '../wrong-question.js';

/** What became slower from some sources to others: see `CompareQuestion`. */
export const compareRoute: Route = {
  path: '/data/compare',
  method: 'POST',
  async answer({ recording, body, signal }) {
    const question = (body ?? {}) as Record<string, unknown>;
    const { index } = recording;
    const { sources } = index;
    const before = numbersOf('before', question['before'], sources.length);
    const after = numbersOf('after', question['after'], sources.length);
    const { where = '' } = question;
    if (typeof where !== 'string') throw new WrongQuestion('where must be a text');
    const rows = await chosenRows(recording, conditionOfText(where), signal);
    // What is on both sides counts as before.
    const others = new Set([...after].filter((number) => !before.has(number)));
    const first: RowsOfSide = { index, rows, sources: before };
    const second: RowsOfSide = { index, rows, sources: others };
    const groups = compareGroups(first, second);
    const answer: CompareAnswer = { groups, errors: await compareErrors(first, second) };
    return { json: answer };
  },
};

function numbersOf(field: string, value: unknown, end: number): Set<number> {
  const isNumber = (each: unknown): each is number =>
    Number.isInteger(each) && (each as number) >= 0 && (each as number) < end;
  if (!Array.isArray(value) || value.length > end || !value.every(isNumber)) {
    throw new WrongQuestion(`${field} must be a list of numbers of sources, below ${end}`);
  }
  return new Set(value);
}
