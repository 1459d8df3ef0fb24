import { expect, it } from 'vitest';
import { describeWith } from './servers.js';
import { below, expectWithin, runLibrary, treeOf } from './traced-library.js';

await describeWith(['MariaDB'], 'db0', () => {
  it.each(['newest', 'oldest'] as const)('its %s version is recorded', async (age) => {
    const env = { TRACEWRIGHT_QUERY_TEXT: '1' };
    const { spans } = await runLibrary('db0', age, 'db0', env);
    const tree = (of: string): string[] =>
      treeOf(
        spans,
        spans.find(({ name }) => name === of)!,
      ).map((line) => line.replace(/tracewright_db0_\d+/, 'names'));
    // What mysql2 publishes of the same queries is below.
    const queries = tree('queries').filter((line) => !/mysql (connect|pool)/.test(line));
    expect(queries).toEqual([
      'CREATE TABLE names',
      '  CREATE TABLE names',
      'INSERT names',
      '  INSERT names',
      'SELECT names',
      '  SELECT names',
      'DROP TABLE names',
      '  DROP TABLE names',
    ]);
    expect(tree('errors')).toEqual([
      'SELECT missing_table: ER_NO_SUCH_TABLE',
      '  SELECT missing_table: ER_NO_SUCH_TABLE',
    ]);
    expectWithin(spans, 'queries');
    const insert = below(spans, 'queries')[1]!;
    expect(insert.kind).toBe('client');
    expect(insert.scope).toMatchObject({ name: 'tracewright/db0' });
    expect(insert.attributes).toMatchObject({
      'db.system.name': 'mysql',
      'db.query.text': expect.stringMatching(
        /^INSERT INTO tracewright_db0_\d+ VALUES \(\?\)$/,
      ) as string,
    });
  });
});
