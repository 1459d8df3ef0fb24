import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSql } from '../../../src/libraries/engine/sql-reader.js';
import type { Dialect } from '../../../src/libraries/engine/sql-words.js';

const summary = (sql: string, dialect: Dialect = 'postgresql'): string =>
  readSql(dialect, sql, false).summary;
const text = (sql: string, dialect: Dialect = 'postgresql'): string | undefined =>
  readSql(dialect, sql, true).text;

describe('the summary of a statement', () => {
  it.each([
    ['SELECT * FROM users WHERE id = 1', 'SELECT users'],
    [
      'select a from s.users u, orders o where a in (select x from "Items")',
      'SELECT s.users orders SELECT Items',
    ],
    ['SELECT * FROM a JOIN b USING (id) LEFT JOIN ONLY c ON true', 'SELECT a b c'],
    ['INSERT INTO orders(id, name) SELECT id, name FROM carts', 'INSERT orders SELECT carts'],
    ["INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET a = 'x'", 'INSERT t'],
    ['UPDATE ONLY users SET a = 1 FROM b', 'UPDATE users b'],
    ['DELETE FROM users USING x', 'DELETE users'],
    // Words that are names here, and elsewhere lie before one.
    ['SELECT * FROM temp WHERE a = 1', 'SELECT temp'],
    ['SELECT * FROM temp t JOIN fail ON true', 'SELECT temp fail'],
    ['UPDATE temp SET a = 1', 'UPDATE temp'],
    ['INSERT INTO quick VALUES (1)', 'INSERT quick'],
    ['SELECT * INTO TEMP copies FROM users', 'SELECT copies users'],
    [
      'WITH x AS (DELETE FROM a RETURNING *) INSERT INTO b SELECT * FROM x',
      'DELETE a INSERT b SELECT x',
    ],
    ['SELECT * FROM users FOR NO KEY UPDATE', 'SELECT users'],
    ['SELECT extract(year FROM born), trim(both FROM name) FROM people', 'SELECT people'],
    ['SELECT a IS DISTINCT FROM b FROM c', 'SELECT c'],
    ['SELECT * FROM generate_series(1, 9)', 'SELECT'],
    ['CREATE TABLE IF NOT EXISTS a (b int REFERENCES c ON DELETE CASCADE)', 'CREATE TABLE a'],
    ['CREATE UNIQUE INDEX i ON t (a)', 'CREATE INDEX'],
    ['ALTER TABLE a ADD b int', 'ALTER TABLE a'],
    ['TRUNCATE TABLE a', 'TRUNCATE a'],
    ['BEGIN; UPDATE a SET b = 1; COMMIT', 'BEGIN UPDATE a COMMIT'],
    ['EXPLAIN ANALYZE SELECT 1 FROM a', 'EXPLAIN ANALYZE SELECT a'],
    ['CALL add_user($1)', 'CALL add_user'],
    ['-- a comment\n/* another */ SELECT 1', 'SELECT'],
    ['(SELECT 1 FROM a) UNION (SELECT 2 FROM b)', 'SELECT a SELECT b'],
    ['', ''],
    ['nonsense secret', ''],
  ])('of %s is %s', (sql, expected) => {
    expect(summary(sql)).toBe(expected);
  });

  it('knows the words of other servers', () => {
    expect(summary('INSERT IGNORE `a`.`b` SET x = 1', 'mysql')).toBe('INSERT a.b');
    expect(summary('REPLACE INTO a VALUES (1)', 'mysql')).toBe('REPLACE a');
    expect(summary('SELECT 1 FROM a # FROM b\nJOIN c', 'mysql')).toBe('SELECT a c');
    expect(summary('INSERT INTO a VALUES (1) ON DUPLICATE KEY UPDATE b = 2', 'mysql')).toBe(
      'INSERT a',
    );
    expect(summary('SELECT * FROM [my db].[my table]', 'mssql')).toBe('SELECT my db.my table');
    expect(summary('EXEC add_user @name = 1', 'mssql')).toBe('EXEC add_user');
  });

  it('is bounded', () => {
    const tables = Array.from({ length: 500 }, (_, index) => `table_${index}`);
    expect(summary(`SELECT * FROM ${tables.join(', ')}`).length).toBeLessThanOrEqual(255);
    expect(summary(`INSERT INTO a VALUES ${'(1),'.repeat(100_000)}`)).toBe('INSERT a');
    expect(summary(`SELECT * FROM ${'x'.repeat(1000)}`)).toBe('SELECT');
  });
});

describe('the text of a statement', () => {
  it.each([
    [
      "SELECT * FROM a WHERE b = 'secret' AND c = 4111111111111111",
      'SELECT * FROM a WHERE b = ? AND c = ?',
    ],
    ["SELECT 'it''s secret', E'secret', N'secret', x'5ec8e7'", 'SELECT ?, E?, N?, x?'],
    ['SELECT $1, $$secret$$, $tag$ $secret$ $tag$, $2', 'SELECT $1, ?, ?, $2'],
    ['SELECT 1.5e-3, 0xdeadbeef, .5, 12secret', 'SELECT ?, ?, ?, ?'],
    ["SELECT 1 /* secret */ -- secret\n, 'a'", 'SELECT ? , ?'],
    ['SELECT "column" FROM a', 'SELECT "column" FROM a'],
    ["SELECT 'not closed secret", 'SELECT ?'],
  ])('of %s is %s', (sql, expected) => {
    expect(text(sql)).toBe(expected);
  });

  it('is none where it is not certain what a literal is', () => {
    // Whether a backslash escapes is a setting of the server.
    expect(text("SELECT 'a\\', ' secret', 'b'")).toBeUndefined();
    expect(text("SELECT 'a\\', ' secret', 'b'", 'mysql')).toBeUndefined();
    expect(text("SELECT 'a\\\\', 'b'", 'mysql')).toBe('SELECT ?, ?');
    expect(text("SELECT 'a\\', ' secret', 'b'", 'mssql')).toBe('SELECT ?, ?, ?');
    // One server nests comments, another runs them.
    expect(text("SELECT /* /* */ 'secret' */ 1")).toBeUndefined();
    expect(text("SELECT /*! 'secret' */ 1", 'mysql')).toBeUndefined();
    expect(text('ALTR USER secret')).toBeUndefined();
  });

  it('has no strings of MySQL in double quotes', () => {
    expect(text('SELECT "secret" FROM a WHERE b = "x"', 'mysql')).toBe(
      'SELECT ? FROM a WHERE b = ?',
    );
    expect(text("SELECT 5--3, 'x' -- secret", 'mysql')).toBe('SELECT ?--?, ?');
  });

  it('is bounded', () => {
    expect(text(`SELECT ${'a, '.repeat(100_000)} b`)!.length).toBeLessThanOrEqual(2001);
  });
});

describe('a word that may be a value', () => {
  const dialects: readonly Dialect[] = ['mysql', 'postgresql', 'sqlite', 'mssql'];
  const statements: readonly ((value: string) => string)[] = [
    (value) => `pragma key = ${value}`,
    (value) => `PRAGMA main.key(${value})`,
    (value) => `set x to ${value}`,
    (value) => `SET LOCAL x.y = ${value}, ${value}`,
    (value) => `set session authorization ${value}`,
    (value) => `set x to "${value}"`,
    (value) => `copy t (a, b) from stdin;\n${value}\tselect ${value}\n\\.`,
    (value) => `copy t from stdin;\nselect ${value} from ${value}`,
    (value) => `exec p ${value}`,
    (value) => `exec dbo.p ${value}.${value}, @b = ${value}`,
    (value) => `execute p(${value})`,
    (value) => `call p(${value})`,
    (value) => `prepare p as select ${value} from ${value}.${value}`,
    (value) => `do ${value}`,
    (value) => `comment on table t is ${value}`,
    (value) => `alter user u with password ${value}`,
    (value) => `create user u identified by ${value}`,
    (value) => `create or replace role u password ${value}`,
    (value) => `create table t (a int) with (b = ${value})`,
    (value) => `grant all on t to u identified by ${value}`,
    (value) => `notify ${value}, ${value}`,
    (value) => `declare c cursor for select ${value}`,
    (value) => `let x = ${value}`,
    (value) => `use ${value}`,
    (value) => `kill query ${value}`,
    (value) => `show variables like ${value}`,
    (value) => `explain execute p(${value})`,
    (value) => `select 1; set x = ${value}`,
  ];

  it('is not recorded', () => {
    const value = fc.stringMatching(/^[a-z]{4,9}$/).map((word) => `zq${word}`);
    fc.assert(
      fc.property(
        fc.constantFrom(...dialects),
        fc.constantFrom(...statements),
        value,
        (dialect, statement, word) => {
          const { text } = readSql(dialect, statement(word), true);
          expect(text ?? '').not.toContain(word);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('is not recorded by SQL Server either, which needs no semicolons', () => {
    for (const statement of [
      'exec p secret',
      'declare @a int = secret',
      'use secret',
      'set context_info secret',
    ]) {
      expect(text(`select a from b ${statement}`, 'mssql')).not.toContain('secret');
    }
  });

  it('leaves keywords and names', () => {
    expect(text('set x to secret')).toBe('set x to ?');
    expect(text('pragma key = secret', 'sqlite')).toBe('pragma key = ?');
    expect(text('exec dbo.p secret', 'mssql')).toBe('exec dbo.p ?');
    const update = 'update t set a = b where c = d';
    expect(text(update, 'mssql')).toBe(update);
    expect(text(`${update} set x secret`, 'mssql')).toBe(`${update} ? ? ?`);
    const merge = 'merge into t using s on t.a = s.a when matched then update set b = s.b';
    expect(text(merge, 'mssql')).toBe(merge);
    const common = 'with x as (select a from b) update x set a = c';
    expect(text(common, 'mssql')).toBe(common);
    expect(text('copy t from stdin;\nsecret', 'postgresql')).toBe('copy t from stdin;?');
    expect(text('alter user u with password secret')).toBe('alter user ? with password ?');
    expect(text('ALTER TABLE a ADD b int')).toBe('ALTER TABLE a ADD b int');
    expect(summary('PREPARE p AS SELECT * FROM a.b')).toBe('PREPARE SELECT a.b');
  });
});

it.each([
  ['mysql', 'INSERT LOW_PRIORITY IGNORE INTO t VALUES (1)', 'INSERT t'],
  ['mysql', 'UPDATE LOW_PRIORITY IGNORE t SET a = 1', 'UPDATE t'],
  ['mysql', 'DELETE QUICK FROM t', 'DELETE t'],
  ['mysql', 'REPLACE DELAYED INTO t VALUES (1)', 'REPLACE t'],
  ['sqlite', 'INSERT OR FAIL INTO t VALUES (1)', 'INSERT t'],
  ['sqlite', 'UPDATE OR ROLLBACK t SET a = 1', 'UPDATE t'],
  ['sqlite', 'CREATE TEMP TABLE IF NOT EXISTS t (a)', 'CREATE TABLE t'],
  ['postgresql', 'UPDATE delayed SET a = 1', 'UPDATE delayed'],
] as const)('the words before a table of %s: %s', (dialect, sql, wanted) => {
  expect(summary(sql, dialect)).toBe(wanted);
});
