import { describe, expect, it } from 'vitest';
import { below, expectWithin, lineOf, runScript } from './traced-library.js';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const publishes = major > 26 || (major === 26 && minor >= 8);

describe('node:sqlite', () => {
  it.skipIf(!publishes)('has its statements, from Node 26.8 on', async () => {
    const { spans } = await runScript('sqlite', { TRACEWRIGHT_QUERY_TEXT: '1' });
    expect(below(spans, 'queries').map(lineOf)).toEqual([
      'CREATE TABLE users',
      'INSERT users',
      'SELECT users',
      'SELECT',
    ]);
    expectWithin(spans, 'queries');
    const [, , select] = below(spans, 'queries');
    expect(select!.kind).toBe('client');
    expect(select!.scope).toMatchObject({ name: 'tracewright/sqlite' });
    expect(select!.attributes).toEqual({
      'db.system.name': 'sqlite',
      'db.query.summary': 'SELECT users',
      'db.query.text': 'SELECT name FROM users WHERE name <> ? AND name <> ?',
    });
    // SQLite counts whole milliseconds.
    const [slow] = below(spans, 'slow');
    expect(Number(slow!.end - slow!.start)).toBeGreaterThan(2e6);
    expect(spans.map(({ name }) => name)).toContain('UPDATE users');
  });
});
