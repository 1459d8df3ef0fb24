import { NO_TRACE } from '../../index/look-index.js';
import type { LookIndex } from '../../index/look-index.js';
import type { SearchTermsAnswer } from '../../wire/panel-answers.js';
import type { Route } from '../route.js';

/** Spans whose attributes are looked at, taken evenly. */
const MOST_SPANS = 500;
/** Of one attribute, the most frequent ones. */
const MOST_VALUES = 10;
const LONGEST_VALUE = 80;

/** Terms that a search may have, as they are typed: of names, services, and attributes of some spans. */
export const searchTermsRoute: Route = {
  path: '/data/search-terms',
  method: 'GET',
  answer({ recording: { index, frequentNames } }) {
    const services = new Set(index.sources.flatMap(({ service }) => service ?? []));
    const json: SearchTermsAnswer = {
      terms: [
        ...frequentNames.flatMap(({ name }) => termOf('name', name)),
        ...[...services].flatMap((service) => termOf('service', service)),
        ...attributeTerms(index),
      ],
    };
    return { json };
  },
};

/** By name of the attribute, then by how many spans have the value. */
function attributeTerms(index: LookIndex): string[] {
  const values = new Map<string, Map<string, number>>();
  const step = Math.max(1, Math.floor(index.rows / MOST_SPANS));
  for (let row = 0; row < index.rows; row += step) {
    const part = index.partOf(row);
    if (part.trace[row - part.firstRow] === NO_TRACE) continue;
    for (const [name, value] of Object.entries(index.span(row)?.attributes ?? {})) {
      if (typeof value === 'object') continue;
      const known = values.get(name) ?? new Map<string, number>();
      values.set(name, known);
      known.set(String(value), (known.get(String(value)) ?? 0) + 1);
    }
  }
  return [...values]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, counts]) => {
      const frequent = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_VALUES);
      return frequent.flatMap(([value]) => termOf(name, value));
    });
}

/** None if the find panel could not tell it from others. */
function termOf(name: string, value: string): string[] {
  if (/["\s=<>]/.test(name) || /["\n]/.test(value) || value.length > LONGEST_VALUE) return [];
  return [/\s/.test(value) ? `${name}="${value}"` : `${name}=${value}`];
}
