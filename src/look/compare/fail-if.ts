import { TracewrightError } from '../../core/errors.js';
import { countText } from '../report/measures/units.js';
import { causeText } from '../report/print/cause-texts.js';
import { nameWithTargets } from '../report/names/request-name.js';
import { callsText, oftenText, sizeText } from './comparison-texts.js';
import type { ComparedGroup, Comparison } from './comparison-shape.js';

/** Requests of a kind that a side must have to be slower, and calls. */
const LEAST_SPANS = 100;
const LEAST_CALLS = 20;
/** A call that appears, in so few requests, is an exception. */
const LEAST_A_REQUEST = 0.1;
/** How likely an error that was there before is seen only after, at most. */
const MOST_CHANCE = 0.01;

/** Which changes are failures: `slower:20%,errors:new,calls:2x`. */
export interface FailIf {
  /** How many times longer the geometric mean is; undefined: it does not matter. */
  slower?: number;
  /** How many times more often a request makes a call. */
  calls?: number;
  errors?: boolean;
}

/** @throws TracewrightError for anything but `slower:N%`, `calls:Nx` and `errors:new`, with commas between them. */
export function parseFailIf(text: string): FailIf {
  const wanted: FailIf = {};
  for (const term of text.split(',')) {
    const slower = /^slower:(\d+(?:\.\d+)?)%$/.exec(term)?.[1];
    const calls = /^calls:(\d+(?:\.\d+)?)x$/.exec(term)?.[1];
    if (slower !== undefined) wanted.slower = 1 + Number(slower) / 100;
    else if (calls !== undefined && Number(calls) >= 1) wanted.calls = Number(calls);
    else if (term === 'errors:new') wanted.errors = true;
    else {
      throw new TracewrightError(
        'ERR_ARGUMENT_RANGE',
        `--fail-if takes slower:N%, calls:Nx and errors:new with commas between them, got ${JSON.stringify(term)}`,
        { field: '--fail-if', value: term },
      );
    }
  }
  return wanted;
}

/** Why a comparison fails, a line a reason. Only what is beyond chance, and seen often enough, is one. */
export function failureReasons(comparison: Comparison, wanted: FailIf): string[] {
  const { groups, errors } = comparison;
  const reasons: string[] = [];
  for (const group of groups) {
    const { before, after, ratio } = group;
    const isOften = Math.min(before.count, after.count) >= LEAST_SPANS;
    if (wanted.slower !== undefined && isOften && ratio !== null && ratio.low > wanted.slower) {
      reasons.push(`slower: ${nameOf(group)} is ${sizeText(ratio)} in its geometric mean`);
    }
    for (const calls of wanted.calls === undefined ? [] : group.calls) {
      if (calls.calls.after < LEAST_CALLS) continue;
      const isNew = calls.change === 'appeared' && calls.after >= LEAST_A_REQUEST;
      if (isNew || (calls.low !== null && calls.low > wanted.calls!)) {
        const by = calls.route === null ? '' : ` by ${calls.route}`;
        const often = oftenText(calls);
        reasons.push(
          `calls: ${nameOf(group)} is called${by} ${callsText(calls)}${often === null ? '' : ` (${often} times as often)`}`,
        );
      }
    }
  }
  if (wanted.errors !== true) return reasons;
  const [before, after] = [requestsOf(comparison, 'before'), requestsOf(comparison, 'after')];
  for (const error of errors.types) {
    if (error.change !== 'new' || before === 0) continue;
    // As if the error were as frequent before: all of it after is a matter of chance.
    if ((after / (before + after)) ** error.after > MOST_CHANCE) continue;
    reasons.push(`errors: new is ${causeText(error)}, ${countText(error.after)} times`);
  }
  return reasons;
}

function requestsOf({ groups }: Comparison, side: 'before' | 'after'): number {
  return groups
    .filter(
      ({ kind, statement }) => statement === null && (kind === 'server' || kind === 'consumer'),
    )
    .reduce((sum, group) => sum + group[side].count, 0);
}

function nameOf(group: ComparedGroup): string {
  const name = group.statement ?? nameWithTargets(group);
  return group.service === null ? name : `${name} of ${group.service}`;
}
