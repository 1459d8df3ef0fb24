import { poolWait } from './engine/pool-wait.js';
import type { Library } from './library.js';

/** Its queries are recorded by what it asks: pg, mysql2 and others. Its pool is that of `tarn`. */
export const knex: Library = {
  name: 'knex',
  operations: [poolWait('orchestrion:knex:acquire', 'knex pool')],
};
