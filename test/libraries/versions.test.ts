import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { entryOf, LIBRARY_NAMES } from '../../src/libraries/table.js';
import { versionOf } from './packages.js';

/** The rows of the table: the library, and from which version to which it is recorded. */
const rows = new Map(
  readFileSync(new URL('../../docs/libraries.md', import.meta.url), 'utf8')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, , from = '']) => /^(?:router )?\d+\.\d+\.\d+/.test(from))
    .map(([, library = '', from = '', to = '']) => [
      /^[\w.-]+/.exec(library)![0],
      { from: /\d+\.\d+\.\d+/.exec(from)![0], to },
    ]),
);

/** The package of a library, if it has another name. */
const PACKAGES_OF: Readonly<Record<string, string>> = {
  express: 'router',
  express4: 'express',
  graphql16: 'graphql',
  grpc: '@grpc/grpc-js',
  kafka: '@platformatic/kafka',
  nest: '@nestjs/core',
  redis: '@redis/client',
  redis3: 'redis',
};

/** What is the oldest of a library, if not the least version that a test runs. */
const FROM: Readonly<Record<string, string>> = {
  graphql: versionOf('oldest', 'graphql'),
  // Of earlier ones a warning says that they are not recorded.
  mssql: versionOf('oldest', 'mssql'),
  pg: versionOf('oldest', 'pg'),
};

/** Of which later versions are another library: the newest that tests run. */
const NEWEST: Readonly<Record<string, 'earlier' | 'ancient'>> = {
  express4: 'earlier',
  graphql16: 'earlier',
  redis3: 'ancient',
};

/** The least version of a package that any test runs. */
function leastVersion(name: string): string | undefined {
  const ages = ['oldest', 'earlier', 'ancient', 'first'] as const;
  return ages
    .map((age) => versionOf(age, name))
    .filter((version) => /^\d/.test(version))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))[0];
}

test('the documented versions are those that the tests run', () => {
  // Adapters are several packages, of which programs run.
  const names = LIBRARY_NAMES.filter(
    (name) => !/:|^(?:adapters|routers)$/.test(name) && entryOf(name).isOfNode !== true,
  );
  expect([...rows.keys()].sort()).toEqual([...names].sort());
  for (const [name, { from, to }] of rows) {
    const target = PACKAGES_OF[name] ?? name;
    expect(to, name).toBe(versionOf(NEWEST[name] ?? 'newest', target));
    expect(from, name).toBe(FROM[name] ?? leastVersion(target));
  }
});

test('the hook replaces an instrumentation from the documented version on', () => {
  const replaced = LIBRARY_NAMES.filter((name) => entryOf(name).instrumentation !== undefined);
  expect(replaced).toContain('pg');
  for (const name of replaced) {
    expect(entryOf(name).instrumentation!.from, name).toBe(rows.get(name)?.from);
  }
});
