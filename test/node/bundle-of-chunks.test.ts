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
