import type { IndexRow } from '../../index/index-row.js';
import { rowAt } from '../../index/index-row.js';
import { withoutQuery } from '../../../spans/read/older-names.js';
import { NO_TEXT } from '../../index/look-index.js';
import type { IndexPart, LookIndex } from '../../index/look-index.js';
import { callTarget } from './call-target.js';
import { attributesOf } from './recorded-attributes.js';
import { nameWithPath, nameWithTarget } from './request-name.js';

/** Names a single row: a request with its path, and a call with its target, if its name lacks that. */
export function rowName(index: LookIndex, row: number): string {
  const { name, system, isCall } = rowAt(index, row);
  return isCall
    ? nameWithTarget({ name, system, target: callTarget(index, row) })
    : nameWithPath({ name, path: requestPath(index, row) });
}

const MAX_LENGTH = 200;

/**
 * The path of a request whose name has none: without a route it is named by its method alone, and an open
 * request may not have its route yet. Null for every other row.
 */
export function requestPath(index: LookIndex, row: number): string | null {
  const { isRequest, name } = rowAt(index, row);
  if (!isRequest || name.includes('/')) return null;
  const path = withoutQuery(attributesOf(index, row)('url.path'));
  if (path === undefined) return null;
  return path.length > MAX_LENGTH ? `${path.slice(0, MAX_LENGTH)}…` : path;
}

/** Names a row by its name and route. */
export function spanName({ part, at }: IndexRow): string {
  return nameOf(part, part.name[at]!, part.route[at]!);
}

/** Names rows by their name and route, which are numbers of texts. */
export function nameOf({ names }: IndexPart, name: number, route: number): string {
  const text = names.text(name);
  return route === NO_TEXT ? text : routeName(text, names.text(route));
}

/** Names a request with its route: OpenTelemetry's instrumentations name some by the method alone. */
export function routeName(name: string, route: string): string {
  return name.includes(route) ? name : `${name} ${route}`;
}
