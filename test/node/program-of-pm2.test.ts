import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { reportOn } from '../look/report/recorded-service.js';
import { readSpansOf } from '../../src/spans/read/read-spans.js';
import { TracedProcess, temporaryDirectory } from './traced-process.js';

const directory = temporaryDirectory();
const register = new URL('../../dist/node/register.js', import.meta.url).href;

/** As pm2 7 does: its container loads the script that its environment names. The script answers one request. */
function pm2Of(name: string): { container: string; script: string } {
  const own = join(directory, name);
  const pm2 = join(own, 'node_modules', 'pm2');
  mkdirSync(join(pm2, 'lib'), { recursive: true });
  writeFileSync(join(pm2, 'package.json'), '{ "name": "pm2" }');
  const container = join(pm2, 'lib', 'ProcessContainer.js');
  writeFileSync(
    container,
    'Object.assign(process.env, JSON.parse(process.env.pm2_env)); delete process.env.pm2_env;' +
      'require(process.env.pm_exec_path);',
  );
  writeFileSync(join(own, 'package.json'), '{ "name": "bookshop" }');
  const script = join(own, 'web.js');
  writeFileSync(
    script,
    `const server = require('node:http').createServer((_, response) => response.end());
     server.listen({ port: 0, exclusive: true }, async () => {
       await (await fetch('http://127.0.0.1:' + server.address().port)).text();
       server.close();
       process.disconnect?.();
     });`,
  );
  return { container, script };
}

it('a program that pm2 starts has its own name', async () => {
  const { container, script } = pm2Of('alone');
  const traces = join(directory, 'traces');
  const run = new TracedProcess(pathToFileURL(container).href, {
    env: { TRACEWRIGHT_DIR: traces, pm2_env: JSON.stringify({ pm_exec_path: script }) },
  });
  expect(await run.ended()).toMatchObject({ code: 0, stderr: '' });
  const [file] = readdirSync(join(traces, 'heph'));
  expect(file).toMatch(/^web-\d+\.heph$/);
  const names = new Set<unknown>();
  for await (const { resource } of readSpansOf([traces], {})) {
    names.add(resource?.attributes['service.name']);
  }
  expect([...names]).toEqual(['bookshop']);
});

/**
 * As pm2's daemon does: it forks the container once for each instance, with Node's cluster. What `env` of its file sets
 * is in one variable.
 */
const DAEMON = `
  const cluster = require('node:cluster');
  const [register, container, script, traces] = process.argv.slice(2);
  cluster.setupPrimary({ exec: container, execArgv: ['--import', register] });
  for (let instance = 0; instance < 2; instance++) {
    cluster.fork({
      pm2_env: JSON.stringify({
        pm_exec_path: script,
        name: 'web',
        NODE_APP_INSTANCE: instance,
        TRACEWRIGHT_DIR: traces,
        OTEL_SERVICE_NAME: 'books',
      }),
    });
  }`;

it('the processes of a cluster that pm2 starts share the name that its file sets, and a row of the report', async () => {
  const { container, script } = pm2Of('cluster');
  const daemon = join(directory, 'daemon.cjs');
  writeFileSync(daemon, DAEMON);
  const traces = join(directory, 'traces-of-cluster');
  const run = new TracedProcess(pathToFileURL(daemon).href, {
    hook: 'none',
    args: [register, container, script, traces],
  });
  expect(await run.ended()).toMatchObject({ code: 0, stderr: '' });
  // Each process is a run.
  const { report } = await reportOn([traces, `${traces}.1`]);
  const services = report.sources.filter(({ format }) => format === 'Heph');
  expect(services.map(({ service }) => service)).toEqual(['books', 'books']);
  expect(new Set(services.map(({ pid }) => pid)).size).toBe(2);
  const requests = report.groups.filter(({ kind }) => kind === 'server');
  expect(requests.map(({ service, count }) => [service, count])).toEqual([['books', 2]]);
});

it('a program that a tool of its packages starts has its own name', async () => {
  const own = join(directory, 'tool');
  const tool = join(own, 'node_modules', 'server-tool');
  mkdirSync(tool, { recursive: true });
  writeFileSync(
    join(own, 'package.json'),
    '{ "name": "bookshop", "devDependencies": { "server-tool": "1.0.0" } }',
  );
  writeFileSync(join(tool, 'package.json'), '{ "name": "server-tool", "version": "1.0.0" }');
  const bin = join(tool, 'serve.js');
  writeFileSync(
    bin,
    `const server = require('node:http').createServer((_, response) => response.end());
     server.listen(0, async () => {
       await (await fetch('http://127.0.0.1:' + server.address().port)).text();
       server.close();
     });`,
  );
  const nameIn = async (cwd: string): Promise<unknown> => {
    const run = new TracedProcess(pathToFileURL(bin).href, { cwd });
    expect(await run.ended()).toMatchObject({ code: 0, stderr: '' });
    for await (const { resource } of readSpansOf([run.directory], {})) {
      return resource?.attributes['service.name'];
    }
    return undefined;
  };
  expect(await nameIn(own)).toBe('bookshop');
  // Elsewhere the tool is the program.
  expect(await nameIn(directory)).toBe('server-tool');
});
