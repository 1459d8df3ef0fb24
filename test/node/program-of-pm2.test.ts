import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { readSpansOf } from '../../src/spans/read/read-spans.js';
import { TracedProcess, temporaryDirectory } from './traced-process.js';

const directory = temporaryDirectory();

it('a program that pm2 starts has its own name', async () => {
  // As pm2 7 does: its container loads the script that its environment names.
  const pm2 = join(directory, 'node_modules', 'pm2');
  mkdirSync(join(pm2, 'lib'), { recursive: true });
  writeFileSync(join(pm2, 'package.json'), '{ "name": "pm2" }');
  writeFileSync(
    join(pm2, 'lib', 'ProcessContainer.js'),
    'const { pm_exec_path } = JSON.parse(process.env.pm2_env); delete process.env.pm2_env;' +
      'process.env.pm_exec_path = pm_exec_path; require(pm_exec_path);',
  );
  writeFileSync(join(directory, 'package.json'), '{ "name": "bookshop" }');
  const script = join(directory, 'web.js');
  writeFileSync(
    script,
    `const server = require('node:http').createServer((_, response) => response.end()).listen(0, async () => {
       await (await fetch('http://127.0.0.1:' + server.address().port)).text();
       server.close();
     });`,
  );
  const traces = join(directory, 'traces');
  const run = new TracedProcess(pathToFileURL(join(pm2, 'lib', 'ProcessContainer.js')).href, {
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
