import { outOfRange } from '../../core/errors.js';
import type { Condition } from '../index/look-index.js';
import { parseDuration } from './time-point.js';

const COMPARISON = /^([^=<>]+)(=|<=|>=|<|>)([^]*)$/;
const EXPECTED =
  'NAME=VALUE with name, service, system, status, kind, trace or an attribute, ' +
  'duration>=TIME, duration<=TIME, unfinished, or missing-parent';
/** Conditions of one word. */
export const WORDS: Readonly<Record<string, string>> = {
  unfinished: 'unfinished=true',
  'missing-parent': 'parent=missing',
};
/** Before the name of an attribute that is called as a field. */
const ATTRIBUTE = 'attribute.';
const STATUSES = ['unset', 'ok', 'error'] as const;
const KINDS = ['internal', 'server', 'client', 'producer', 'consumer'] as const;

function word<T extends string>(text: string, value: string, words: readonly T[]): T {
  const found = words.find((each) => each === value.toLowerCase());
  if (found === undefined) throw outOfRange('--where', text, `one of ${words.join(', ')}`);
  return found;
}

/** Each field at most once: two values of one would never both hold. */
function set<K extends keyof Condition>(
  condition: Condition,
  text: string,
  key: K,
  value: Condition[K],
): void {
  if (condition[key] !== undefined) {
    throw outOfRange('--where', text, 'a field that no other --where names');
  }
  condition[key] = value;
}

function add(condition: Condition, text: string): void {
  const term = Object.hasOwn(WORDS, text) ? WORDS[text]! : text;
  const [, name, operator, value] = COMPARISON.exec(term) ?? [];
  if (name === undefined || value === undefined) throw outOfRange('--where', text, EXPECTED);
  if (name === 'duration') {
    const nanoseconds = parseDuration('--where', value);
    if (operator === '=') throw outOfRange('--where', text, 'duration>=TIME or duration<=TIME');
    const isLeast = operator!.startsWith('>');
    // Times are whole nanoseconds.
    const step = operator!.length === 1 ? 1 : 0;
    if (isLeast) set(condition, text, 'minDuration', nanoseconds + step);
    else set(condition, text, 'maxDuration', nanoseconds - step);
    return;
  }
  if (operator !== '=') throw outOfRange('--where', text, EXPECTED);
  switch (name) {
    case 'name':
      set(condition, text, 'name', value);
      return;
    case 'service':
      set(condition, text, 'service', value);
      return;
    case 'system':
      set(condition, text, 'system', value);
      return;
    case 'status':
      set(condition, text, 'status', word(text, value, STATUSES));
      return;
    case 'kind':
      set(condition, text, 'kind', word(text, value, KINDS));
      return;
    case 'unfinished':
      set(condition, text, 'unfinished', word(text, value, ['true', 'false']) === 'true');
      return;
    case 'parent':
      word(text, value, ['missing']);
      set(condition, text, 'missingParent', true);
      return;
    case 'trace':
      if (!/^[\da-f]{32}$/i.test(value)) {
        throw outOfRange('--where', text, 'trace=ID with 32 hexadecimal digits');
      }
      set(condition, text, 'traceId', value.toLowerCase());
      return;
    default: {
      const attribute = name.startsWith(ATTRIBUTE) ? name.slice(ATTRIBUTE.length) : name;
      condition.attributes = [...(condition.attributes ?? []), { name: attribute, value }];
    }
  }
}

/**
 * The condition that the values of `--where` say together: `name=GET *`, `status=error`,
 * `duration>=10ms`, `http.route=/users/:id`. An attribute that is called as a field has
 * `attribute.` before its name.
 *
 * @throws TracewrightError for what is no condition.
 */
export function parseWhere(texts: readonly string[]): Condition {
  const condition: Condition = {};
  for (const text of texts) add(condition, text);
  return condition;
}
