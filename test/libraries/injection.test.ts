import { mkdirSync, writeFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory, TracedProcess } from '../node/traced-process.js';
import type { Hook } from '../node/traced-process.js';

/** A program with a package that calls itself as a library does. */
function programWith(
  manifest: { name: string; version: string; type?: string },
  path: string,
  file: string,
  program: { name: string; text: string },
): string {
  const directory = temporaryDirectory();
  const place = join(directory, 'node_modules', manifest.name);
  mkdirSync(dirname(join(place, path)), { recursive: true });
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(place, path), file);
  const own = { name: 'program', dependencies: { [manifest.name]: manifest.version } };
  writeFileSync(join(directory, 'package.json'), JSON.stringify(own));
  writeFileSync(join(directory, program.name), program.text);
  return join(directory, program.name);
}

async function run(
  script: string,
  env: Record<string, string> = {},
  hook: Hook = '--import',
): Promise<{ stdout: string; stderr: string }> {
  const traced = new TracedProcess(`file://${script}`, {
    hook,
    env: { TRACEWRIGHT_CONTEXT: 'on', ...env },
    cwd: dirname(script),
  });
  const { code, stdout, stderr } = await traced.ended();
  expect(code).toBe(0);
  return { stdout, stderr };
}

function pgOf(version: string, client: string): string {
  return programWith({ name: 'pg', version }, 'lib/client.js', client, {
    name: 'program.cjs',
    text: "process.stdout.write(String(require('pg/lib/client.js')));",
  });
}

describe('a program that cannot be changed', () => {
  it.each([
    ['has no such class', 'module.exports = 7;', 'Client is not defined'],
    [
      'has no such method',
      "class Client { connect() {} } module.exports = '7';",
      'it has no function query',
    ],
  ])('runs as it is, with one warning, if a library %s', async (_, client, reason) => {
    const { stdout, stderr } = await run(pgOf('9.9.0', client));
    expect(stdout).toBe('7');
    expect(stderr).toContain(
      `TracewrightWarning: pg 9.9.0 is not traced: lib/client.js: ${reason}`,
    );
    expect(stderr.match(/TracewrightWarning/g)).toHaveLength(1);
  });

  it('runs as it is, with a warning, if the text of a library has another form', async () => {
    const script = programWith(
      { name: 'koa-compose', version: '9.9.0' },
      'index.js',
      'exports = 7;',
      {
        name: 'program.cjs',
        text: "require('koa-compose');",
      },
    );
    const { stderr } = await run(script);
    expect(stderr).toContain(
      'TracewrightWarning: koa 9.9.0 is not traced: index.js: it has "fn(context," 0 times',
    );
  });

  it('runs as it is, without a warning, if nothing is to be changed', async () => {
    const script = pgOf('9.9.0', 'module.exports = 7;');
    const env = { TRACEWRIGHT_INJECT: 'off' };
    expect(await run(script, env)).toEqual({ stdout: '7', stderr: '' });
  });

  it('keeps its strict mode and its lines', async () => {
    const client = [
      "'use strict';",
      'class Client { connect() {} query() {} }',
      'const line = () => new Error().stack.split(`\\n`)[1].match(/client.js:(\\d+)/)[1];',
      'module.exports = `${line()} ${(function () { return this; })()} ${Client.prototype.query.name}`;',
      '// The last line may be a comment',
    ];
    expect(await run(pgOf('8.99.0', client.join('\n')))).toEqual({
      stdout: '3 undefined query',
      stderr: '',
    });
  });

  it.each<Hook>(['--import', '-r'])(
    'of ES modules runs as it is, with a warning, by %s',
    async (hook) => {
      const manifest = { name: 'hono', version: '4.99.0', type: 'module' };
      const script = programWith(manifest, 'dist/compose.js', 'export default 7;', {
        name: 'program.mjs',
        text: "import seven from 'hono/dist/compose.js'; process.stdout.write(String(seven));",
      });
      const { stdout, stderr } = await run(script, {}, hook);
      expect(stdout).toBe('7');
      expect(stderr).toContain(
        'TracewrightWarning: hono 4.99.0 is not traced: dist/compose.js: it has "handler(context,"',
      );
    },
  );

  it.each([
    ['hono', 'dist/compose.js', "import('hono/dist/compose.js')"],
    ['hono', 'dist/compose.js', "import(['hono', 'dist', 'compose.js'].join('/'))"],
    ['@nestjs/core', 'router/router-execution-context.js', "import('@nestjs/core')"],
  ])('of CommonJS that imports %s runs as it is, with a warning', async (name, path, call) => {
    const manifest = { name, version: '99.0.0', type: 'module', main: path };
    const script = programWith(manifest, path, 'export default 7;', {
      name: 'program.cjs',
      text: `${call}.then((found) => process.stdout.write(String(found.default)));`,
    });
    const { stdout, stderr } = await run(script);
    expect(stdout).toBe('7');
    expect(stderr.match(/TracewrightWarning/g)).toHaveLength(1);
    expect(stderr).toContain(' 99.0.0 is not traced');
  });
});

/** Nodes without synchronous hooks read modules in ways of which two cannot be changed. */
describe.skipIf('registerHooks' in nodeModule)('ES modules on this Node', () => {
  const NEEDED = 'this needs Node 22.15, 23.5 or later\n';

  it('have a warning if require() loads them', async () => {
    const name = '@nestjs/core';
    const path = 'router/router-execution-context.js';
    const manifest = { name, version: '12.99.0', type: 'module', main: 'index.js' };
    const script = programWith(manifest, path, 'export default 7;', {
      name: 'program.cjs',
      text: "process.stdout.write(String(require('@nestjs/core').default));",
    });
    const index = join(dirname(script), 'node_modules', name, 'index.js');
    writeFileSync(index, `export { default } from './${path}';`);
    const { stdout, stderr } = await run(script);
    expect(stdout).toBe('7');
    expect(stderr).toContain(
      `ES modules of ${name} are not traced if require() loads them; import it, or ${NEEDED}`,
    );
    expect(stderr.match(/TracewrightWarning/g)).toHaveLength(1);
  });

  const SERVE = `const server = createServer((_, response) => response.end(String(seven)));
    server.listen(0, '127.0.0.1', async () => {
      const response = await fetch(\`http://127.0.0.1:\${server.address().port}\`);
      process.stdout.write(await response.text());
      server.close();
    });`;
  const MODULE = {
    name: 'program.mjs',
    text: `import { createServer } from 'node:http';
      import seven from 'hono/dist/compose.js';
      ${SERVE}`,
  };
  const COMMON_JS = {
    name: 'program.cjs',
    text: `const { createServer } = require('node:http');
      import('hono/dist/compose.js').then(({ default: seven }) => { ${SERVE} });`,
  };

  function serviceOf(program: { name: string; text: string }, compose = 'export default 7;') {
    const manifest = { name: 'hono', version: '4.99.0', type: 'module' };
    return programWith(manifest, 'dist/compose.js', compose, program);
  }

  it.each([
    ['--import', MODULE],
    ['--import', COMMON_JS],
    ['--loader', MODULE],
    ['--loader', COMMON_JS],
  ])('have a warning if a loader of %s reads them in its own thread', async (flag, program) => {
    const script = serviceOf(program);
    const loader = join(dirname(script), 'loader.mjs');
    const text =
      flag === '--loader'
        ? 'export {};'
        : "import { register } from 'node:module'; register('data:text/javascript,', import.meta.url);";
    writeFileSync(loader, text);
    const { stdout, stderr } = await run(script, { NODE_OPTIONS: `${flag} ${loader}` });
    expect(stdout).toBe('7');
    expect(stderr).toContain(
      `ES modules of hono are not traced: a loader reads them in a thread of its own; ${NEEDED}`,
    );
    expect(stderr.match(/TracewrightWarning/g)).toHaveLength(1);
  });

  it('of a CommonJS program without a loader have no such warning', async () => {
    // The library is used after the first request.
    const script = serviceOf({
      ...COMMON_JS,
      text: `const { createServer } = require('node:http'); const seven = 7; ${SERVE}`,
    });
    expect(await run(script)).toEqual({ stdout: '7', stderr: '' });
  });
});
