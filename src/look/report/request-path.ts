import { withoutQuery } from '../../spans/read/older-names.js';
import type { LookIndex } from '../index/look-index.js';
import { isRequest } from './groups.js';
import { attributesOf } from './recorded-attributes.js';

const MAX_LENGTH = 200;

/**
 * The path of a request whose name has none: without a route it is named by its method alone, and an open
 * request may not have its route yet. Null for every other row.
 */
export function requestPath(index: LookIndex, row: number): string | null {
  const part = index.partOf(row);
  const at = row - part.firstRow;
  if (!isRequest(part.flags[at]!) || part.names.text(part.name[at]!).includes('/')) return null;
  const path = withoutQuery(attributesOf(index, row)('url.path'));
  if (path === undefined) return null;
  return path.length > MAX_LENGTH ? `${path.slice(0, MAX_LENGTH)}…` : path;
}
