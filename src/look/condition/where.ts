import { outOfRange } from '../../core/errors.js';
import { didYouMean } from '../../core/nearest-name.js';
import type { Condition } from '../index/look-index.js';
import type { GroupBy } from '../report/shape/report-shape.js';
import { parseDuration, UNITS } from './time-point.js';

const COMPARISON = /^([^=<>]+)(=|<=|>=|<|>)([^]*)$/;
const EXPECTED =
  'NAME=VALUE with name, service, system, status, kind, trace, cause or an attribute, ' +
  'duration>=TIME, duration<=TIME, unfinished, or missing-parent';
const NUMBER = /^\d+(?:\.\d+)?$/;
/** Conditions of one word. */
const WORDS: Readonly<Record<string, string>> = {
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
    if (operator === '=') throw outOfRange('--where', text, 'duration>=TIME or duration<=TIME');
    if (NUMBER.test(value)) {
      const right = `duration${operator!}${value}ms`;
      throw outOfRange('--where', text, `a duration with a unit (${UNITS}), such as ${right}`);
    }
    const nanoseconds = parseDuration('--where', value);
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
    case 'service':
    case 'system':
    case 'cause':
      set(condition, text, name, value);
      return;
    case 'status':
      if (/^\d{3}$/.test(value)) {
        const right = `http.response.status_code=${value}`;
        throw outOfRange('--where', text, `status=${STATUSES.join('|')}, or ${right}`);
      }
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

const GROUPS_BY = ['route', 'name', 'service'] as const;

/**
 * Reads `--by`: one kind of group, or attributes.
 *
 * @throws RangeError for what is neither, in words without a subject.
 */
export function groupsBy(given: readonly string[] = []): {
  by?: Exclude<GroupBy, 'attribute'>;
  attributes?: string[];
} {
  const all = given.flatMap((text) => text.split(',')).map((text) => text.trim());
  const some = all.filter((name) => name !== '');
  const names = some.length === 0 ? all : some;
  if (names.length === 0) return {};
  const by = GROUPS_BY.find((each) => each === names[0]);
  if (by !== undefined && names.length === 1) return { by };
  // Attributes have namespaces; one without is called with a prefix.
  const attributes = names.map((name) => name.replace(/^attribute\./, ''));
  for (const [at, name] of names.entries()) {
    if (attributes[at] !== '' && name.includes('.')) continue;
    if (GROUPS_BY.some((each) => each === name)) {
      throw new RangeError(`must be ${name} alone, or attributes, got ${JSON.stringify(names)}`);
    }
    throw new RangeError(
      `must be one of ${GROUPS_BY.join(', ')}, or attributes such as db.query.text ` +
        `(attribute.user for one without a point), got ${JSON.stringify(name)}` +
        didYouMean(name, GROUPS_BY),
    );
  }
  return { attributes };
}
