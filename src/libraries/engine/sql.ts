import type { Description, LibraryOptions } from '../library.js';
import type { Attributes } from './attribute-names.js';
import { BoundedCache } from '../../core/bounded-cache.js';
import * as names from './conventions.js';
import { readSql } from './sql-reader.js';
import type { SqlReading } from './sql-reader.js';
import type { Dialect } from './sql-words.js';

/** Statements of a program that are kept, and how long they may be. */
const KEPT = 256;
const MAX_KEPT_LENGTH = 1024;

const caches: Partial<Record<Dialect, BoundedCache<SqlReading>>> = {};

/**
 * The span of a query in SQL. What it does to which tables is its name: `SELECT users orders`.
 *
 * @param attributes of the database and its server.
 */
export function queryDescription(
  dialect: Dialect,
  sql: string,
  attributes: Attributes,
  { queryText }: LibraryOptions,
): Description {
  const cache = (caches[dialect] ??= new BoundedCache(KEPT, MAX_KEPT_LENGTH, (text) =>
    readSql(dialect, text, queryText),
  ));
  const { summary, text } = cache.of(sql);
  attributes[names.DB_SUMMARY] = summary === '' ? undefined : summary;
  if (queryText) attributes[names.DB_TEXT] = text;
  return { name: summary === '' ? dialect : summary, attributes };
}
