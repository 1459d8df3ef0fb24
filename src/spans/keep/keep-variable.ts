import { TracewrightError } from '../../core/errors.js';
import { didYouMean } from '../../core/nearest-name.js';
import { millisecondsIn } from '../../core/settings/amounts.js';
import type { Kind } from '../../core/settings/kinds.js';
import { DEFAULT_LIMIT, NEVER, percentileOf, waitingBytesOf, withText } from './keep-options.js';
import type { KeepRules, SlowRule } from './keep-options.js';

const VARIABLE = 'TRACEWRIGHT_KEEP';

const TERMS = ['slower', 'stalls', 'errors', 'ratio', 'first', 'limit'];
const DURATION_LIMIT =
  'a duration such as 500ms or 2s, or a percentile such as p99; of one route slower:/path=200ms';
const SHAPES =
  'slower:500ms, slower:/path=200ms, slower:p99, stalls:200ms, errors, errors:any, ratio:0.01, first:100 or limit:100/s';

function durationOf(text: string): SlowRule | undefined {
  const ms = millisecondsIn(text);
  return ms === undefined ? percentileOf(text) : { ns: ms * 1e6, percent: 0 };
}

function wrongTerm(term: string, limit: string): TracewrightError {
  const [name = ''] = term.split(':', 1);
  const near = TERMS.includes(name) ? '' : didYouMean(name, TERMS);
  const between = /[;\s]/.test(term) ? '; terms have commas between them' : '';
  return new TracewrightError(
    'ERR_ARGUMENT_RANGE',
    `${VARIABLE}: ${JSON.stringify(term)} must be ${limit}${near}${between}`,
    { field: VARIABLE, value: term, limit },
  );
}

/**
 * Reads `TRACEWRIGHT_KEEP`.
 *
 * @throws TracewrightError that names the term and what would be right.
 */
export function parseKeep(text: string): KeepRules {
  let slow = NEVER;
  const routes = new Map<string, SlowRule>();
  const rules = {
    stalls: Infinity,
    errors: 'none' as KeepRules['errors'],
    ratio: 0,
    first: 0,
    limit: DEFAULT_LIMIT as number,
  };
  for (const term of text.split(',').map((each) => each.trim())) {
    if (term === '') continue;
    const colon = term.indexOf(':');
    const name = colon === -1 ? term : term.slice(0, colon);
    const value = colon === -1 ? '' : term.slice(colon + 1);
    if (name === 'slower') {
      const equals = value.lastIndexOf('=');
      const rule = durationOf(value.slice(equals + 1));
      if (rule === undefined || equals === 0)
        throw wrongTerm(term, `slower: and ${DURATION_LIMIT}`);
      if (equals === -1)
        slow = { ns: Math.min(slow.ns, rule.ns), percent: rule.percent || slow.percent };
      else routes.set(value.slice(0, equals), rule);
    } else if (name === 'stalls') {
      const ms = millisecondsIn(value);
      if (ms === undefined) throw wrongTerm(term, 'stalls: and a duration such as 200ms or 2s');
      rules.stalls = ms * 1e6;
    } else if (name === 'errors') {
      if (value !== '' && value !== 'any') throw wrongTerm(term, 'errors or errors:any');
      rules.errors = value === 'any' ? 'any' : 'root';
    } else if (name === 'ratio') {
      const ratio = value === '' ? NaN : Number(value);
      if (!(ratio >= 0 && ratio <= 1)) throw wrongTerm(term, 'ratio: and a number from 0 to 1');
      rules.ratio = ratio;
    } else if (name === 'first') {
      if (!/^\d{1,7}$/.test(value)) throw wrongTerm(term, 'first: and a number of requests');
      rules.first = Number(value);
    } else if (name === 'limit') {
      const count = /^(\d{1,7})\/s$/.exec(value)?.[1];
      if (value !== 'off' && (count === undefined || Number(count) === 0)) {
        throw wrongTerm(term, 'limit: and a number a second such as 100/s, or limit:off');
      }
      rules.limit = count === undefined ? Infinity : Number(count);
    } else {
      throw wrongTerm(term, SHAPES);
    }
  }
  return withText({
    slow,
    routes,
    ...rules,
    decide: undefined,
    waitingBytes: waitingBytesOf(undefined),
  });
}

/** The rules of which traces are kept. */
export const KEEP: Kind<KeepRules> = { limit: SHAPES, parse: parseKeep };
