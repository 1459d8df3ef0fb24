import type { Condition } from '../index/look-index.js';
import { WORDS, parseWhere } from './where.js';

const TERM = /"([^"]*)"|((?:[^\s"]|"[^"]*")+)/g;
const OPERATOR = /[=<>]/;
const TRACE_ID = /^[\da-f]{32}$/i;

/**
 * The condition that a person writes in one line: terms of `--where` with spaces between them, quoted where
 * a value contains one (`status=error http.route="/a b" duration>10ms`), `unfinished`, `missing-parent`, or
 * a trace id. Other words are a part of the name.
 *
 * @throws TracewrightError for a term that is no condition.
 */
export function parseFindText(text: string): Condition {
  const terms: string[] = [];
  const words: string[] = [];
  for (const [, quoted, plain] of text.matchAll(TERM)) {
    if (plain === undefined) words.push(quoted ?? '');
    else if (OPERATOR.test(plain)) terms.push(plain.replaceAll('"', ''));
    else if (Object.hasOwn(WORDS, plain)) terms.push(plain);
    else if (TRACE_ID.test(plain)) terms.push(`trace=${plain}`);
    else words.push(plain);
  }
  if (words.length > 0) {
    const part = words.join(' ');
    terms.push(part.includes('*') ? `name=${part}` : `name=*${part}*`);
  }
  return parseWhere(terms);
}
