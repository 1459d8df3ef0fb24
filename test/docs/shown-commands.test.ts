import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

/** Every command of the guides runs as it stands there, in a directory that has what the guides speak of. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const place = mkdtempSync(join(tmpdir(), 'tracewright-docs-'));

/** Installs, measures or runs for long: other commands and tests of the repository run these. */
const NOT_HERE =
  /^(npm (ci|install|run|test|start)|node (bench|scripts)\/|npx esbuild|npx tracewright view|npx tracewright ship (?!.*--dry-run)|TRACEWRIGHT_SHIP=)|agent\.cjs/;

const MAJOR = Number.parseInt(process.versions.node);
/** What a command needs that this machine does not have. */
function missingFor(command: string): string | undefined {
  if (command.includes('--permission') && MAJOR < 24) return 'Node 24';
  const tools = ['jq', 'curl', 'less'].filter((tool) => new RegExp(`\\b${tool}\\b`).test(command));
  return tools.find((tool) => spawnSync('which', [tool]).status !== 0);
}

/** Names of the guides, and what they are here. */
const NAMES: [RegExp, string][] = [
  [/\/var\/lib\/traces/g, 'traces'],
  [/traces\/(service-…|DIRECTORY)/g, '$(ls -d traces/service-* | head -n 1)'],
  [/\bPATH --ring-dir DIR/g, 'traces --ring-dir rings'],
  [/(?<=recover )PATH\b/g, 'traces'],
  [/\brun-0000\.bin/g, '$(ls run-*.bin)'],
  [/\brun\.meta/g, '$(ls run-*.meta)'],
  [/\/srv\/traces/g, 'traces'],
  // It serves until Ctrl-C.
  [/^(node .*http-service\.mjs)/, 'timeout --preserve-status -s INT 3 $1'],
];

const SERVICE = `
const http = require('node:http');
const server = http.createServer((request, response) => response.end('hello'));
server.listen(0, async () => {
  for (let i = 0; i < 20; i++) await fetch('http://127.0.0.1:' + server.address().port + '/users/' + i);
  server.close();
  server.closeAllConnections();
});
`;

/** Writes what programs of the guides write; its argument is the version of ovni. */
const PROGRAM = `
import { openTrace } from 'tracewright/heph';
import { openRank } from 'tracewright/dumpi';
import { openKernelEvents, openReferences } from 'tracewright/laplace';
import * as ovni from 'tracewright/ovni';

const version = Number(process.argv[2]);
ovni.procInit(1, 'my-host', process.pid, { version, traceDir: version === 1 ? 'ovni' : 'my-run' });
ovni.threadInit();
ovni.addCpu(0, 0);
ovni.event('OHx')(0, process.pid, 0);
ovni.event('OHe')();
ovni.threadFree();
ovni.procFini();
if (version === 1) {
  const trace = openTrace('work.heph');
  const stream = trace.stream();
  stream.finishTrace(stream.startTrace(), 'load', { id: 7 });
  await trace.close();
  const rank = openRank({ rank: 0, size: 1, directory: '.', fileRoot: 'run', config: { timestamps: 'wall' } });
  rank.log('MPI_Init', { argv: ['program'] });
  rank.log('MPI_Finalize', {});
  rank.close();
  const references = openReferences('run.references');
  references.load(1, 4, 1, 4096);
  references.close();
  const kernel = openKernelEvents('run.kernel.txt');
  kernel.schedule(1, 2);
  kernel.close();
}
`;

/** A command, and the page that shows it. */
interface Shown {
  page: string;
  command: string;
}

function commandsOf(page: string): Shown[] {
  const text = readFileSync(join(root, page), 'utf8');
  const lines = text.split('\n');
  const shown: Shown[] = [];
  let isInFence = false;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (line.startsWith('```')) isInFence = !isInFence && /^```(sh|bash)?$/.test(line);
    const start = /^(?:\$ | {4})?((?:[A-Z_]+=\S+ )*(?:npx|node|npm) .*)$/.exec(line);
    const isCommand = start !== null && (line.startsWith('    ') || isInFence);
    if (!isCommand) continue;
    let command = start[1]!;
    // A pipe or a backslash at the end goes on.
    while (/[|\\]$/.test(command) && i + 1 < lines.length) command += `\n${lines[++i]!}`;
    if (/^ *while\b/m.test(command))
      while (!/^ *done$/m.test(command)) command += `\n${lines[++i]!}`;
    shown.push({ page, command });
  }
  return shown;
}

interface Done {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** In the directory of the guides, with the commands that are installed there. */
async function run(command: string, env: Record<string, string> = {}): Promise<Done> {
  const paths = [join(place, 'bin'), process.env['PATH'] ?? ''].join(delimiter);
  const child = spawn('bash', ['-o', 'pipefail', '-c', command], {
    cwd: place,
    env: { ...process.env, ...env, PATH: paths, TRACEWRIGHT_QUIET: '1', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const done: Done = { status: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (done.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (done.stderr += text));
  [done.status] = (await once(child, 'close')) as [number | null];
  return done;
}

const pages = ['README.md', 'examples/README.md'];
for (const name of readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })) {
  if (name.endsWith('.md') && !name.startsWith('reference')) pages.push(join('docs', name));
}
const all = pages.flatMap((page) => commandsOf(page));
const here = all
  .filter(({ command }) => !NOT_HERE.test(command))
  .map((shown) => ({ ...shown, missing: missingFor(shown.command) }));

/** What is there before the first command. */
const given: string[] = [];

const bodies: string[] = [];
const collector = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => (body += text));
  request.on('end', () => {
    bodies.push(body);
    response.end('{}');
  });
});

beforeAll(async () => {
  const bin = join(place, 'bin');
  mkdirSync(join(place, 'node_modules'));
  mkdirSync(bin);
  mkdirSync(join(place, 'rings'));
  symlinkSync(root, join(place, 'node_modules/tracewright'));
  symlinkSync(join(root, 'examples'), join(place, 'examples'));
  symlinkSync(process.execPath, join(bin, 'node'));
  // What npx finds in a project where the package is installed, without the second that npx takes.
  writeFileSync(
    join(bin, 'npx'),
    `#!/bin/sh\nshift\nexec node ${join(root, 'dist/cli/main.js')} "$@"\n`,
  );
  chmodSync(join(bin, 'npx'), 0o755);
  writeFileSync(join(place, 'package.json'), '{ "name": "service" }');
  for (const name of ['service.js', 'shop.js', 'stock.js']) {
    writeFileSync(join(place, name), SERVICE);
  }
  copyFileSync(join(root, 'examples/mpi-ranks.mjs'), join(place, 'pool.mjs'));
  copyFileSync(join(root, 'examples/busy-functions.mjs'), join(place, 'busy-functions.mjs'));
  writeFileSync(join(place, 'program.mjs'), PROGRAM);
  const hook = 'node --import tracewright/register service.js';
  for (const command of [hook, 'node program.mjs 1', 'node program.mjs 3']) {
    expect(await run(command)).toMatchObject({ status: 0, stderr: '' });
  }
  for (const name of ['before', 'after']) {
    expect(await run(hook, { TRACEWRIGHT_DIR: name })).toMatchObject({ status: 0, stderr: '' });
  }
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  given.push(...readdirSync(place));
}, 120_000);

afterAll(() => {
  collector.close();
  rmSync(place, { recursive: true, force: true });
});

/** What a command has made; the next one may make it, too. */
afterEach(() => {
  for (const name of readdirSync(place)) {
    if (!given.includes(name)) rmSync(join(place, name), { recursive: true, force: true });
  }
});

describe('the commands that the guides show', () => {
  it('are found', () => {
    expect(here.length).toBeGreaterThan(30);
  });

  it.for(here)('run: $command ($page)', async ({ command, missing }, { skip }) => {
    skip(missing !== undefined, `missing: ${missing}`);
    const { port } = collector.address() as AddressInfo;
    const changed = NAMES.reduce((text, [name, by]) => text.replace(name, by), command);
    const done = await run(changed.replace(':4318', `:${port}`));
    const isStopped = changed.startsWith('timeout');
    const { status, stderr } = done;
    expect({ command: changed, status, stderr }).toMatchObject({ status: isStopped ? 130 : 0 });
    expect(stderr).not.toMatch(/Error/);
    if (command.includes(':4318')) expect(bodies.join('\n')).toContain('resourceSpans');
  });
});
