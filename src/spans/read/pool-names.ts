/** Names of spans of waiting for a pool, whatever else names its system. */
export const POOLS: ReadonlySet<string> = new Set([
  'generic pool',
  'http pool',
  'knex pool',
  'mariadb pool',
  'mssql pool',
  'mysql pool',
  'postgresql pool',
]);
