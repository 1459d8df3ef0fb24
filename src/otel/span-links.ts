import { hasNames } from '../spans/attributes.js';
import type { SpanLink } from '../spans/span.js';
import { attributesOf } from './attributes.js';
import { isOwnSpan, standInOf } from './span-context.js';
import { countWrongArgument } from './wrong-arguments.js';

/** Links of one call that are looked at. */
const MOST = 65_535;

/** A link of the API; undefined, and counted, if it is none. */
export function linkOf(given: unknown): SpanLink | undefined {
  try {
    // A list may have thousands that are nothing at all: an exception for each would take long.
    const link = hasNames(given) ? linkFrom(given) : undefined;
    if (link !== undefined) return link;
  } catch {
    // A getter, or a proxy.
  }
  countWrongArgument();
  return undefined;
}

function linkFrom(given: { context?: unknown; attributes?: unknown }): SpanLink | undefined {
  const { context, attributes } = given;
  const to = isOwnSpan(context) ? context : standInOf(context, undefined);
  if (to === undefined) return undefined;
  const own = attributesOf(attributes);
  return own === undefined ? { to } : { to, attributes: own };
}

/** Those of a list of the API that are links. */
export function linksOf(given: unknown): SpanLink[] {
  if (given === undefined || given === null) return [];
  try {
    const links: SpanLink[] = [];
    let count = 0;
    for (const each of given as Iterable<unknown>) {
      if (++count > MOST) break;
      const link = linkOf(each);
      if (link !== undefined) links.push(link);
    }
    return links;
  } catch {
    countWrongArgument();
    return [];
  }
}
