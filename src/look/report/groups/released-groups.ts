import { TracewrightError } from '../../../core/errors.js';
import { countedUntil, releasedIn } from '../../../spans/read/released-requests.js';
import type { ReleasedRequests } from '../../../spans/read/released-requests.js';
import { includesSource } from '../../condition/source-condition.js';
import { textPattern } from '../../condition/span-condition.js';
import type { Condition, LookIndex } from '../../index/look-index.js';
import type { Grouping } from './groups.js';

/** Conditions that counts can be tested for. For any other one counts do not say whether it holds. */
const KNOWN = new Set<keyof Condition>([
  'from',
  'to',
  'name',
  'service',
  'hidden',
  'kind',
  'attributes',
]);
const ROUTE = 'http.route';

type Test = (released: ReleasedRequests) => boolean;

function isGiven(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}

/** Makes the test whether counts meet a condition; undefined: it cannot be tested. */
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
 * Counts of requests that were not kept, as far as a condition selects them. Counts are of ten seconds. They belong to
 * the window that has the middle of these.
 */
export function* selectedCounts(
  { sources, epoch }: LookIndex,
  condition: Condition,
): Generator<SelectedCounts, void> {
  const test = testOf(condition);
  if (test === undefined) return;
  const { from = -Infinity, to = Infinity } = condition;
  for (const source of sources) {
    const { format, path, clockOffset } = source;
    if (format !== 'Heph' || !includesSource(condition, source)) continue;
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

/** How many requests were not kept, and how many of them because of the limit. */
export interface NotKept {
  count: number;
  limited: number;
}

/** Adds what was not kept to the groups. */
export function addReleased(index: LookIndex, condition: Condition, grouping: Grouping): NotKept {
  let count = 0;
  let limited = 0;
  for (const { released, source } of selectedCounts(index, condition)) {
    if (!released.isBelow) count += released.count;
    limited += released.limited;
    if (grouping.takesReleased(released)) {
      grouping.addReleased(released, source.service, source.path);
    }
  }
  return { count, limited };
}

/** Without requests there are no counts: a process that ends by itself writes its last ones right before. */
const AT_ITS_END_NS = 1e9;

/**
 * Services, or else paths, that were killed while they had counts that they had not written.
 *
 * @param endOf when a source was recorded last, in ns since the index's epoch.
 */
export function servicesWithLostCounts(
  { sources, epoch }: LookIndex,
  endOf: (source: number) => number,
): string[] {
  const lost = sources.filter(({ number, format, path, state, clockOffset }) => {
    if (format !== 'Heph' || (state !== 'died' && state !== 'unfinished')) return false;
    try {
      const until = countedUntil(path);
      if (until === undefined) return false;
      return endOf(number) - Number(until + clockOffset - epoch) > AT_ITS_END_NS;
    } catch (error) {
      // The index names what cannot be read.
      if (!(error instanceof TracewrightError)) throw error;
      return false;
    }
  });
  return [...new Set(lost.map(({ service, path }) => service ?? path))];
}
