import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory, TracedProcess } from '../node/traced-process.js';
import { installedPackages } from './packages.js';
import type { Age } from './packages.js';

const PROGRAM = "import pg from 'pg'; import Koa from 'koa'; new Koa(); new pg.Client();";

/** A program that only loads its libraries, as a bundle. */
async function run(
  format: 'cjs' | 'esm',
  minify: boolean,
  external: string[],
  age: Age = 'newest',
  contents = PROGRAM,
) {
  const place = await installedPackages(age);
  const directory = temporaryDirectory();
  const outfile = join(directory, format === 'cjs' ? 'bundle.cjs' : 'bundle.mjs');
  buildSync({
    stdin: {
      contents,
      resolveDir: place,
    },
    bundle: true,
    platform: 'node',
    format,
    minify,
    external: ['pg-native', ...external],
    outfile,
    // CommonJS in a bundle of ES modules needs it.
    ...(format === 'esm'
      ? {
          banner: {
            js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
          },
        }
      : {}),
    logLevel: 'silent',
  });
  const env = { TRACEWRIGHT_CONTEXT: 'on', NODE_PATH: join(place, 'node_modules') };
  const { code, stderr } = await new TracedProcess(outfile, { env }).ended();
  expect(code).toBe(0);
  return stderr.split('\n').filter((line) => line.includes('TracewrightWarning'));
}

describe('a bundle', () => {
  it.each([
    ['cjs', false],
    ['cjs', true],
    ['esm', false],
    ['esm', true],
  ] as const)(
    'of %s has one warning for the libraries in it, minified: %s',
    async (format, minify) => {
      const warnings = await run(format, minify, []);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain('koa, pg are not traced');
      expect(warnings[0]).toContain('--external:koa --external:pg');
    },
  );

  it('without them has none', async () => {
    expect(await run('cjs', true, ['pg', 'koa'])).toEqual([]);
  });

  const EARLIER = ['@redis/client', 'express', 'fastify', 'ioredis', 'mysql2'];
  const loading = EARLIER.map((name) => `require('${name}');`).join('\n');

  it.each([true, false])(
    'has a warning for versions that publish nothing yet, minified: %s',
    async (minify) => {
      const warnings = await run('cjs', minify, [], 'ancient', loading);
      expect(warnings).toHaveLength(1);
      // The driver of Redis contains generic-pool.
      const names = 'express, fastify, ioredis, mysql2, redis, generic-pool';
      expect(warnings[0]).toContain(`${names} are not traced`);
    },
  );

  it('has none for versions that publish what they do', async () => {
    expect(await run('cjs', true, [], 'newest', loading)).toEqual([]);
  });
});
