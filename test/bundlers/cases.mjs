// What is tested: by its name on the command line, what it does with the service.

import { cpSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { everyFormat, expectEveryFormat } from './every-format.mjs';
import { Project } from './project.mjs';

const service = readFileSync(fileURLToPath(new URL('service.mjs', import.meta.url)), 'utf8');

/** A bundle that runs alone, with the binaries next to it. */
function bundler(build, file) {
  return async (tools, projects) => {
    const project = new Project(tools, { 'service.mjs': service });
    projects.push(project);
    await build(project);
    project.copyBinaries('out');
    const alone = project.elsewhere('out');
    projects.push(alone);
    alone.node([join('out', file)]);
    alone.expectTraces();
  };
}

function esbuild(format, file) {
  return bundler((project) => {
    project.run(join(project.tools, '.bin', 'esbuild'), [
      'service.mjs',
      '--bundle',
      '--platform=node',
      `--format=${format}`,
      `--outfile=out/${file}`,
      '--log-level=warning',
    ]);
  }, file);
}

function webpack(project) {
  project.write(
    'webpack.config.cjs',
    `module.exports = {
      mode: 'production',
      target: 'node20',
      entry: './service.mjs',
      output: { path: __dirname + '/out', filename: 'service.cjs' },
    };`,
  );
  project.tool('webpack/bin/webpack.js', ['--config', 'webpack.config.cjs']);
}

function rollup(project) {
  const plugin = (name) => JSON.stringify(join(project.tools, name, 'dist', 'es', 'index.js'));
  project.write(
    'rollup.config.mjs',
    `import commonjs from ${plugin('@rollup/plugin-commonjs')};
     import { nodeResolve } from ${plugin('@rollup/plugin-node-resolve')};
     export default {
       input: 'service.mjs',
       output: { dir: 'out', format: 'es', entryFileNames: '[name].mjs' },
       external: /^node:/,
       plugins: [nodeResolve({ exportConditions: ['node'] }), commonjs()],
     };`,
  );
  project.tool('rollup/dist/bin/rollup', ['--config', 'rollup.config.mjs', '--silent']);
}

/** What @vercel/nft copies, by itself. */
async function nft(tools, projects) {
  const project = new Project(tools, { 'service.mjs': service });
  projects.push(project);
  const { nodeFileTrace } = createRequire(join(tools, 'x.cjs'))('@vercel/nft');
  const { fileList } = await nodeFileTrace([join(project.directory, 'service.mjs')], {
    base: project.directory,
  });
  const alone = project.elsewhere(...fileList);
  projects.push(alone);
  alone.node(['service.mjs']);
  alone.expectTraces();
}

/** ncc copies the binaries, too. */
function ncc(tools, projects) {
  const project = new Project(tools, { 'service.mjs': service });
  projects.push(project);
  project.tool('@vercel/ncc/dist/ncc/cli.js', ['build', 'service.mjs', '--out', 'out', '--quiet']);
  const alone = project.elsewhere('out');
  projects.push(alone);
  const [main] = ['index.mjs', 'index.js'].filter((name) => {
    try {
      return readFileSync(join(alone.directory, 'out', name));
    } catch {
      return false;
    }
  });
  alone.node([join('out', main)]);
  alone.expectTraces();
}

const nextFiles = {
  'package.json': '{ "name": "app", "private": true }',
  'next.config.mjs': `export default {
    output: 'standalone',
    outputFileTracingRoot: import.meta.dirname,
    serverExternalPackages: ['tracewright'],
  };`,
  'instrumentation.js': `export async function register() {
    if (process.env.NEXT_RUNTIME === 'nodejs') await import('tracewright/register');
  }`,
  'app/layout.js': 'export default ({ children }) => <html><body>{children}</body></html>;',
  'app/hello/route.js': `
    import { openTrace } from 'tracewright/heph';
    export const dynamic = 'force-dynamic';
    let stream;
    export function GET() {
      stream ??= openTrace(process.env.OWN_TRACE).stream();
      stream.finishTrace(stream.startTrace(), 'work');
      return new Response('hello');
    }`,
};

/** Asks a server three times and ends it. */
const ask = `
  const { spawn } = require('node:child_process');
  const server = spawn(process.execPath, ['server.js'], {
    cwd: process.argv[2], stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PORT: '0', HOSTNAME: '127.0.0.1' },
  });
  let asked = false;
  // Its address comes in two lines, which may be two pieces.
  server.stdout.on('data', async (text) => {
    const [url] = /http:\\/\\/127\\.0\\.0\\.1:[1-9]\\d*/.exec(String(text)) ?? [];
    if (url === undefined || asked) return;
    asked = true;
    for (let i = 0; i < 3; i++) await (await fetch(url + '/hello')).text();
    server.kill('SIGTERM');
  });
  server.on('exit', () => process.exit(0));`;

function next(tools, projects) {
  const project = new Project(tools, nextFiles);
  projects.push(project);
  // Its server wants its packages inside of the project.
  for (const name of ['next', 'react', 'react-dom']) {
    cpSync(join(tools, name), join(project.directory, 'node_modules', name), { recursive: true });
  }
  for (const name of [
    '@next',
    '@swc',
    'styled-jsx',
    'client-only',
    'scheduler',
    'postcss',
    'nanoid',
    'picocolors',
    'source-map-js',
    'caniuse-lite',
    'baseline-browser-mapping',
  ]) {
    cpSync(join(tools, name), join(project.directory, 'node_modules', name), { recursive: true });
  }
  project.node([join('node_modules', 'next', 'dist', 'bin', 'next'), 'build']);
  const alone = project.elsewhere(join('.next', 'standalone'));
  projects.push(alone);
  alone.write('ask.cjs', ask);
  alone.node(['ask.cjs', join('.next', 'standalone')], {
    OWN_TRACE: join(alone.directory, 'own.heph'),
  });
  const served = alone.count('run/heph', /\/hello/g);
  const own = alone.count('own.heph', /\bwork\b/g);
  if (served < 3 || own !== 3) throw new Error(`recorded ${served} requests, ${own} spans`);
}

/** Two test files in one process: each has a copy of the package. */
function jest(tools, projects) {
  const test = `
    const ovni = require('tracewright/ovni');
    const { openTrace } = require('tracewright/heph');
    test('records', async () => {
      if (!ovni.threadIsReady()) {
        ovni.procInit(1, 'node.1', 1, { traceDir: 'trace', version: 3 });
        ovni.threadInit(1);
        ovni.addCpu(0, 0);
        ovni.event('OHx(i32 cpu, i32 tid, u64 tag)')(0, 1, 0);
        ovni.markType(7, 'phase', { stack: true });
      }
      ovni.markPush(7, 5);
      ovni.markPop(7, 5);
      expect(() => ovni.markPop(7, 5)).toThrow(ovni.TracewrightError);
      const trace = openTrace(__filename + '.heph');
      trace.stream().finishTrace(trace.stream().startTrace(), 'work', { bytes: new Uint8Array(3) });
      await trace.close();
    });`;
  const project = new Project(tools, {
    'package.json': '{ "jest": { "testEnvironment": "node" } }',
    'first.test.js': test,
    'second.test.js': test,
  });
  projects.push(project);
  project.tool('jest/bin/jest.js', ['--runInBand', '--silent']);
  const marks = project.count('trace', /OM[[\]].*phase/g);
  const spans = ['first', 'second'].map((name) =>
    project.count(`${name}.test.js.heph`, /\bwork\b/g),
  );
  if (marks !== 4 || spans.join() !== '1,1') throw new Error(`recorded ${marks} marks, ${spans}`);
}

/** A service in TypeScript, with the hook preloaded by the command line. */
function loader(args, packageJson, file) {
  return (tools, projects) => {
    const text = service
      .replace("import 'tracewright/register';", 'const typed: number = 1; void typed;')
      .replace('server.address().port', '(server.address() as { port: number }).port');
    const project = new Project(
      tools,
      {
        'package.json': packageJson,
        'tsconfig.json':
          '{ "compilerOptions": { "module": "commonjs", "moduleResolution": "node10", "target": "es2022", "esModuleInterop": true, "types": [] } }',
        [file]: text,
      },
      ['tsx', 'ts-node', 'typescript', '@types/node'],
    );
    projects.push(project);
    project.node([...args(tools), file]);
    project.expectTraces();
  };
}

/** A runtime other than Node: every format, and what the hook does. */
function runtime(command, flags, expectHook) {
  return (tools, projects) => {
    const project = new Project(tools, {
      'package.json': '{ "type": "module", "dependencies": { "tracewright": "*" } }',
      'formats.mjs': everyFormat,
      'service.mjs': service,
    });
    projects.push(project);
    const run = (file, env) => project.run(join(tools, '.bin', command), [...flags, file], env);
    run('formats.mjs');
    expectEveryFormat(project);
    project.remove('own.heph');
    expectHook(project, run);
  };
}

/** Deno reports what its servers answer, not what it asks others. */
function expectDenoHook(project, run) {
  run('service.mjs');
  const served = project.count('run/heph', /\/hello/g);
  if (served !== 3) throw new Error(`recorded ${served} requests`);
}

/** Bun reports no request: the hook says so, and the service runs on. */
function expectBunHook(project, run) {
  project.write('hook.mjs', "import 'tracewright/register'; console.log('runs on');");
  const said = run('hook.mjs', { TRACEWRIGHT_TEST_WARNS: '1' });
  if (!said.includes('this process is not traced: Bun does not report HTTP requests')) {
    throw new Error(`the hook says nothing: ${said}`);
  }
}

const commonJs = '{ "type": "commonjs" }';
const esModules = '{ "type": "module" }';
const hook = ['--import', 'tracewright/register'];

/** Types, in every way in which TypeScript resolves modules. */
function types(tools, projects) {
  const source = `
    import { event, procInit } from 'tracewright/ovni';
    import { openTrace } from 'tracewright/heph';
    import { openRank } from 'tracewright/dumpi';
    import { openReferences } from 'tracewright/laplace';
    import 'tracewright/register';
    const place: { traceDir: string; procDir: string } = procInit(1, 'node.1');
    event('OB.(u32 n)')(1);
    openTrace('file').stream().span('request', { status: 'u64' }).finish(undefined, 200);
    // @ts-expect-error the loom is a string
    procInit(1, 2);
    export { openRank, openReferences, place };`;
  const modes = [
    ['a.cts', { module: 'node16', moduleResolution: 'node16' }],
    ['a.mts', { module: 'node16', moduleResolution: 'node16' }],
    ['a.mts', { module: 'nodenext', moduleResolution: 'nodenext' }],
    ['a.ts', { module: 'esnext', moduleResolution: 'bundler' }],
    ['a.ts', { module: 'commonjs', moduleResolution: 'node10' }],
  ];
  for (const [file, mode] of modes) {
    const project = new Project(
      tools,
      {
        [file]: source,
        'tsconfig.json': JSON.stringify({
          compilerOptions: {
            ...mode,
            target: 'es2022',
            strict: true,
            noEmit: true,
            types: ['node'],
          },
          files: [file],
        }),
      },
      ['@types/node'],
    );
    projects.push(project);
    project.tool('typescript/bin/tsc', ['-p', '.']);
  }
}

export const cases = {
  'esbuild-cjs': esbuild('cjs', 'service.cjs'),
  'esbuild-esm': esbuild('esm', 'service.mjs'),
  webpack: bundler(webpack, 'service.cjs'),
  rollup: bundler(rollup, 'service.mjs'),
  ncc,
  nft,
  next,
  jest,
  tsx: loader((tools) => [join(tools, 'tsx', 'dist', 'cli.mjs'), ...hook], commonJs, 'service.ts'),
  'tsx-esm': loader(
    (tools) => [join(tools, 'tsx', 'dist', 'cli.mjs'), ...hook],
    esModules,
    'service.mts',
  ),
  'node-tsx': loader(() => ['--import', 'tsx', ...hook], commonJs, 'service.ts'),
  'ts-node': loader(
    () => ['-r', 'ts-node/register/transpile-only', '-r', 'tracewright/register'],
    commonJs,
    'service.ts',
  ),
  types,
  bun: runtime('bun', [], expectBunHook),
  deno: runtime('deno', ['run', '-A', '--node-modules-dir=manual'], expectDenoHook),
};
