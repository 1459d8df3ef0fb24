import { rowAt } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import { errorGroups } from '../../report/errors/error-types.js';
import { sampledRows } from '../../report/measures/samples.js';
import type { SearchTermsAnswer } from '../../wire/view-answers.js';
import type { Route } from '../route.js';

/** Spans whose attributes are looked at. */
const MOST_SPANS = 500;
/** Of one attribute, the most frequent ones. */
const MOST_VALUES = 10;
const LONGEST_VALUE = 80;

/** Terms that a search may have, as they are typed: of names, services, and attributes of some spans. */
export const searchTermsRoute: Route = {
  path: '/data/search-terms',
  method: 'GET',
  async answer({ recording: { index, frequentNames, live } }) {
    // What grows is asked for this again and again.
    const causes = live ? [] : (await errorGroups(index, {})).causes;
    const services = new Set(index.sources.flatMap(({ service }) => service ?? []));
    const values = attributeValues(index);
    const json: SearchTermsAnswer = {
      attributes: values.map(([name]) => (name.includes('.') ? name : `attribute.${name}`)),
      terms: [
        ...frequentNames.flatMap(({ name }) => termOf('name', name)),
        ...[...services].flatMap((service) => termOf('service', service)),
        ...causes.map((cause) => `cause="${cause}"`),
        ...values.flatMap(([name, counts]) => attributeTerms(name, counts)),
      ],
    };
    return { json };
  },
};

/** How many spans have each value, by name of the attribute. */
function attributeValues(index: LookIndex): [string, Map<string, number>][] {
  const values = new Map<string, Map<string, number>>();
  for (const row of sampledRows(index, MOST_SPANS)) {
    if (rowAt(index, row).traceId === null) continue;
    for (const [name, value] of Object.entries(index.span(row)?.attributes ?? {})) {
      if (typeof value === 'object') continue;
      const known = values.get(name) ?? new Map<string, number>();
      values.set(name, known);
      known.set(String(value), (known.get(String(value)) ?? 0) + 1);
    }
  }
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1));
}

function attributeTerms(name: string, counts: ReadonlyMap<string, number>): string[] {
  const frequent = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_VALUES);
  return frequent.flatMap(([value]) => termOf(name, value));
}

/** None if the search bar could not tell it from others. */
function termOf(name: string, value: string): string[] {
  if (/["\s=<>]/.test(name) || /["\n]/.test(value) || value.length > LONGEST_VALUE) return [];
  return [/\s/.test(value) ? `${name}="${value}"` : `${name}=${value}`];
}
