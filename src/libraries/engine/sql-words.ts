/** The words of SQL by what they say of what follows them, and where its tokens end. */

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Words with which a statement may begin. */
export const STATEMENTS = set(
  'SELECT INSERT UPDATE DELETE REPLACE MERGE CREATE DROP ALTER TRUNCATE CALL EXEC EXECUTE BEGIN START ' +
    'COMMIT ROLLBACK SAVEPOINT RELEASE SET RESET SHOW USE LOCK UNLOCK PREPARE DEALLOCATE COPY GRANT REVOKE ' +
    'DECLARE FETCH CLOSE MOVE LISTEN NOTIFY UNLISTEN VACUUM ANALYZE EXPLAIN DESCRIBE DESC DO KILL OPTIMIZE ' +
    'PRAGMA ATTACH DETACH VALUES TABLE REFRESH REINDEX CLUSTER COMMENT DISCARD END ABORT LOAD RENAME',
);
/** After it another statement begins. */
export const PREFIXES = set('EXPLAIN ANALYZE VERBOSE');
/** Words that may follow a common table expression, or begin parentheses. */
export const INNER = set('SELECT INSERT UPDATE DELETE MERGE');
/** Words before the name of a table. */
export const BEFORE_TABLE = set(
  'FROM JOIN INTO UPDATE TABLE VIEW INSERT REPLACE TRUNCATE MERGE CALL EXEC',
);
/** Words that may lie in between: anywhere, since no table has such a name without quotes, or where they say something. */
const NO_NAMES = set('INTO ONLY LATERAL TABLE IF NOT EXISTS OR');
const AFTER_OR = set('ROLLBACK ABORT FAIL IGNORE REPLACE');
const OF_MYSQL = set('LOW_PRIORITY HIGH_PRIORITY DELAYED QUICK IGNORE');
const TEMPORARY = set('TEMP TEMPORARY');

/** Whether a word may lie between one that precedes a table and the table's name. @param before the word before it. */
export function isBetween(
  dialect: Dialect,
  statement: string,
  before: string,
  word: string,
): boolean {
  if (NO_NAMES.has(word)) return true;
  if (before === 'OR') return AFTER_OR.has(word);
  if (before === 'INTO') return statement === 'SELECT' && TEMPORARY.has(word);
  if (before === 'INSERT' && word === 'OVERWRITE') return true;
  return dialect === 'mysql' && OF_MYSQL.has(word) && before !== 'FROM' && before !== 'JOIN';
}

/** Names of objects follow them that a summary has, or not. */
export const OBJECTS = set(
  'TABLE VIEW INDEX DATABASE SCHEMA FUNCTION PROCEDURE TRIGGER SEQUENCE TYPE USER ROLE EXTENSION',
);
/** Functions that have a `FROM` of their own. */
export const FROM_WITHIN = set('EXTRACT TRIM SUBSTRING SUBSTR OVERLAY POSITION BTRIM');
export const DEFINITIONS = set('CREATE DROP ALTER');
/** Words that may precede the kind of object in a definition, and kinds of which all words are names. */
export const BEFORE_OBJECT = set(
  'OR REPLACE TEMP TEMPORARY UNIQUE MATERIALIZED UNLOGGED GLOBAL LOCAL VIRTUAL RECURSIVE',
);
export const CLEAR_OBJECTS = set('TABLE VIEW INDEX SEQUENCE SCHEMA');

/** A statement in which a word may be a value. Its text has `?` for all others. */
export interface Guarded {
  /** Words that are never values where they come. */
  readonly keywords: ReadonlySet<string>;
  /** Names that come first. */
  readonly names: number;
  /** Whether it contains a statement that the summary has too. */
  readonly hasInner: boolean;
}

const guarded = (keywords: string, names = 0, hasInner = false): Guarded => ({
  keywords: set(keywords),
  names,
  hasInner,
});

const ONLY_NAME = guarded('', 1);
export const NO_NAME = guarded('');
export const GUARDED: Readonly<Record<string, Guarded>> = {
  SET: guarded('SESSION GLOBAL TO', 1),
  PRAGMA: ONLY_NAME,
  RESET: ONLY_NAME,
  CALL: ONLY_NAME,
  EXEC: ONLY_NAME,
  EXECUTE: ONLY_NAME,
  COPY: guarded('FROM TO STDIN STDOUT', 1),
  PREPARE: guarded('AS FROM', 1, true),
  DECLARE: guarded('CURSOR FOR', 0, true),
  LOAD: guarded('DATA LOCAL INFILE INTO TABLE', 0, true),
  COMMENT: guarded('ON IS TABLE COLUMN'),
  GRANT: guarded('ON TO'),
  REVOKE: guarded('ON FROM'),
  SHOW: guarded('TABLES DATABASES COLUMNS STATUS VARIABLES INDEX FROM LIKE WHERE'),
  ATTACH: guarded('DATABASE AS'),
  DETACH: guarded('DATABASE'),
  DO: NO_NAME,
  USE: NO_NAME,
  KILL: NO_NAME,
  NOTIFY: NO_NAME,
  LISTEN: NO_NAME,
  UNLISTEN: NO_NAME,
};
/** A user, a role, a server and their like: of a definition that may have a password. */
export const OTHER_OBJECT = guarded('IF NOT EXISTS WITH IDENTIFIED BY PASSWORD');
/** They need no semicolon before them in SQL Server. */
export const BEGINS_ANYWHERE = set('EXEC EXECUTE DECLARE USE KILL GRANT REVOKE');

/** Words that end the list of tables after `FROM`. */
export const CLAUSES = set(
  'WHERE GROUP ORDER HAVING LIMIT OFFSET UNION EXCEPT INTERSECT SET ON USING FOR WINDOW RETURNING VALUES FETCH',
);

/** Elsewhere `UPDATE` and `DELETE` are no operation: `ON DELETE CASCADE`, `FOR UPDATE`. */
export function isBracket(text: string): boolean {
  return text === '(' || text === ')';
}

/** Whose SQL it is. They differ in quotes and comments, so in where a literal ends. */
export type Dialect = 'mysql' | 'postgresql' | 'sqlite' | 'mssql';

export const LETTER = /[A-Za-z_\u0080-\uffff]/;
export const WORD = /[\w$\u0080-\uffff]*/y;
export const NUMBER = /(?:0[xX][\da-fA-F]+|0[bB][01]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/y;
export const DOLLAR_QUOTE = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;
export const SPACE = /\s+/y;

/** The index after a closing quote; undefined if it is not certain which one that is. */
export function endOfQuoted(
  dialect: Dialect,
  sql: string,
  quote: string,
  from: number,
): number | undefined {
  let at = from;
  for (;;) {
    const found = sql.indexOf(quote, at);
    if (found === -1) return sql.length;
    // Whether a backslash escapes is a setting of the server.
    let backslashes = 0;
    while (sql[found - 1 - backslashes] === '\\' && found - 1 - backslashes >= from) backslashes++;
    const mayEscape = dialect === 'mysql' || dialect === 'postgresql';
    if (mayEscape && backslashes % 2 === 1) return undefined;
    if (sql[found + 1] !== quote) return found + 1;
    at = found + 2;
  }
}

/** Whether two dashes at `at` begin a comment. */
export function isLineComment(dialect: Dialect, sql: string, at: number): boolean {
  return dialect !== 'mysql' || /^(?:\s|$)/.test(sql.slice(at + 2, at + 3));
}
