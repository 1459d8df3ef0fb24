import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { TracedProcess, temporaryDirectory } from './traced-process.js';

const directory = temporaryDirectory();

it.each(['index.js', ''])('a bundle of several ES modules is warned of: node %s', async (entry) => {
  const own = join(directory, entry || 'directory');
  mkdirSync(join(own, 'chunks'), { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(own, 'index.js'), `import { serve } from './chunks/server.js'; serve();`);
  const text = 'Middleware must be composed of functions';
  writeFileSync(
    join(own, 'chunks', 'server.js'),
    `export const serve = () => setTimeout(() => '${text}${'x'.repeat(1 << 14)}', 100);`,
  );
  const run = new TracedProcess(pathToFileURL(join(own, entry)).href, {
    env: { TRACEWRIGHT_CONTEXT: 'on' },
  });
  const { code, stderr } = await run.ended();
  expect(code).toBe(0);
  expect(stderr).toContain('koa is not traced');
  expect(stderr).toContain('server.js is a bundle that contains it');
});

it('clients of databases within a file of a package are warned of', async () => {
  const own = join(directory, 'store');
  const inner = join(own, 'node_modules', 'store');
  mkdirSync(inner, { recursive: true });
  writeFileSync(join(own, 'package.json'), '{ "type": "commonjs" }');
  writeFileSync(
    join(own, 'index.js'),
    `require('store'); const wait = setTimeout(() => undefined, 60_000); process.once('warning', () => clearTimeout(wait));`,
  );
  const before = 'x'.repeat((1 << 18) - 10);
  const texts = [
    // Across the end of a piece.
    `${before}has encountered a connection error and is not queryable`,
    `${before}${before}${before}${before}Middleware must be composed of functions`,
    // It publishes what it does.
    'Socket already opened',
    'node-redis:command',
  ];
  writeFileSync(join(inner, 'index.js'), texts.map((text) => `'${text}';`).join('\n'));
  const run = new TracedProcess(pathToFileURL(join(own, 'index.js')).href, {
    env: { TRACEWRIGHT_CONTEXT: 'on' },
  });
  const { code, stderr } = await run.ended();
  expect(code).toBe(0);
  expect(stderr).toMatch(/: pg is not traced: .*store.index\.js is a bundle that contains it\n/);
});
