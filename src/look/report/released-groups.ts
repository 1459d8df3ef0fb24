import { TracewrightError } from '../../core/errors.js';
import { releasedIn } from '../../spans/read/released-requests.js';
import type { ReleasedRequests } from '../../spans/read/released-requests.js';
import { textPattern } from '../condition/span-condition.js';
import type { Condition, LookIndex } from '../index/look-index.js';
import type { Grouping } from './groups.js';

/** What counts have: of any other condition they do not say whether it holds. */
const KNOWN = new Set<keyof Condition>(['from', 'to', 'name', 'service', 'kind', 'attributes']);
const ROUTE = 'http.route';

type Test = (released: ReleasedRequests) => boolean;

function isGiven(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}

/** What says whether counts meet a condition; undefined: nothing can. */
function testOf(condition: Condition): Test | undefined {
  for (const [name, value] of Object.entries(condition)) {
    if (isGiven(value) && !KNOWN.has(name as keyof Condition)) return undefined;
  }
  const { name, kind, attributes = [] } = condition;
  if (attributes.some((each) => each.name !== ROUTE)) return undefined;
  const isNamed = name === undefined ? () => true : textPattern(name);
  const routes = attributes.map(({ value }) => textPattern(value));
  return (released) =>
    isNamed(released.name) &&
    (kind === undefined || released.kind === kind) &&
    routes.every((isRoute) => isRoute(released.route));
}

/** Counts of a source, and the middle of their time in ns since the index's epoch. */
export interface SelectedCounts {
  released: ReleasedRequests;
  source: LookIndex['sources'][number];
  middle: number;
}

/**
 * What was not kept, as far as a condition selects it. Counts are of ten seconds: those of which the middle lies in the
 * window belong to it.
 */
export function* selectedCounts(
  { sources, epoch }: LookIndex,
  condition: Condition,
): Generator<SelectedCounts, void> {
  const test = testOf(condition);
  if (test === undefined) return;
  const { from = -Infinity, to = Infinity, service: wanted } = condition;
  for (const source of sources) {
    const { format, path, service, clockOffset } = source;
    if (format !== 'Heph' || (wanted !== undefined && !textPattern(wanted)(service ?? '')))
      continue;
    try {
      for (const released of releasedIn(path)) {
        const middle = Number((released.from + released.to) / 2n + clockOffset - epoch);
        if (middle >= from && middle < to && test(released)) yield { released, source, middle };
      }
    } catch (error) {
      // The index names what cannot be read.
      if (!(error instanceof TracewrightError)) throw error;
    }
  }
}

/**
 * Adds what was not kept to the groups.
 *
 * @returns how many requests there are.
 */
export function addReleased(index: LookIndex, condition: Condition, grouping: Grouping): number {
  let count = 0;
  for (const { released, source } of selectedCounts(index, condition)) {
    if (!released.isBelow) count += released.count;
    if (grouping.takesReleased(released)) {
      grouping.addReleased(released, source.service, source.path);
    }
  }
  return count;
}
