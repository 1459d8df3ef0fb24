import { number, requiredText, UnknownPayload } from './engine/payload.js';
import { queryDescription } from './engine/sql.js';
import type { Announcement, Library } from './library.js';

/** Its `sql` has the values in it, also those that were bound. */
interface Query {
  sql?: unknown;
  duration?: unknown;
}

/** `node:sqlite` publishes a statement when it is over. SQLite counts its time in milliseconds. */
const query: Announcement<Query> = {
  channel: 'sqlite.db.query',
  kind: 'client',
  describe(message, options) {
    const sql = requiredText(message.sql, 'sql');
    return queryDescription('sqlite', sql, { 'db.system.name': 'sqlite' }, options);
  },
  tookNs({ duration }) {
    const ns = typeof duration === 'bigint' ? Number(duration) : number(duration);
    if (ns === undefined || ns < 0) throw new UnknownPayload('duration');
    return ns;
  },
};

export const sqlite: Library = { name: 'sqlite', operations: [], announcements: [query] };
