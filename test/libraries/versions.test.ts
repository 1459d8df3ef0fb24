import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LIBRARY_NAMES, NODE_PART_NAMES } from '../../src/libraries/watched-channels.js';
import { RECORDED } from '../../src/node/otel/find-instrumentations.js';
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
  const ofNode: readonly string[] = NODE_PART_NAMES;
  // Several packages, of which programs run.
  const without = ['adapters', ...ofNode];
  const names = LIBRARY_NAMES.filter((name) => !name.includes(':') && !without.includes(name));
  expect([...rows.keys()].sort()).toEqual([...names].sort());
  for (const [name, { from, to }] of rows) {
    const target = PACKAGES_OF[name] ?? name;
    expect(to, name).toBe(versionOf(NEWEST[name] ?? 'newest', target));
    expect(from, name).toBe(FROM[name] ?? leastVersion(target));
  }
});

test('the hook replaces an instrumentation from the documented version on', () => {
  for (const { name, from } of Object.values(RECORDED).flat()) {
    expect(from, name).toBe(rows.get(name)?.from);
  }
});
