import { mkdirSync, writeFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory, TracedProcess } from '../node/traced-process.js';

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
): Promise<{ stdout: string; stderr: string }> {
  const traced = new TracedProcess(`file://${script}`, {
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

  it('of ES modules runs as it is, with a warning', async () => {
    const manifest = { name: 'hono', version: '4.99.0', type: 'module' };
    const script = programWith(manifest, 'dist/compose.js', 'export default 7;', {
      name: 'program.mjs',
      text: "import seven from 'hono/dist/compose.js'; process.stdout.write(String(seven));",
    });
    const { stdout, stderr } = await run(script);
    expect(stdout).toBe('7');
    expect(stderr).toContain(
      'registerHooks' in nodeModule
        ? 'TracewrightWarning: hono 4.99.0 is not traced: dist/compose.js: it has "handler(context,"'
        : 'TracewrightWarning: ES modules of hono are not traced on Node 20',
    );
  });
});
