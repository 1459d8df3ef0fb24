import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { BuildOptions } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { sampledStacks } from '../../../src/export/stacks/sampled-stacks.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { TracedProcess, temporaryDirectory } from '../../node/traced-process.js';
import { hephFiles } from '../../node/written-traces.js';
import { reportOn } from './recorded-service.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const spans = join(root, 'dist', 'spans', 'index.js');
const app = temporaryDirectory();
const source = join(app, 'src', 'spin.ts');

/** Types and an enum: no line is what it is in the script. */
const SPIN = `
interface Order {
  readonly id: number;
  name: string;
}

enum Kind {
  Plain = 1,
  Odd,
}

const step = (n: number): number => Math.sqrt(n) + Kind.Plain;

export function spin(ms: number): number {
  const until = performance.now() + ms;
  let n = 0;
  while (performance.now() < until) n = step(n); // loop
  return n;
}

export class Stock {
  reserve(order: Order): never {
    throw new Error(\`no \${order.name}\`); // throw
  }
}
`;
const MAIN = `
import { spin, Stock } from './spin';

declare const require: (name: string) => { withSpan: (name: string, of: object, run: () => unknown) => void };
declare const process: { argv: string[] };

const { withSpan } = require(process.argv[2]!);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function run(): Promise<void> {
  // The watch begins once the loop has turned for a second.
  await pause(1200);
  for (let i = 0; i < 3; i++) {
    await pause(50);
    withSpan('order', {}, () => spin(400));
  }
  try {
    withSpan('stock', {}, () => new Stock().reserve({ id: 1, name: 'x' }));
  } catch {
    // The span has it.
  }
}
void run();
`;

function lineOf(text: string): string {
  return `${source}:${SPIN.split('\n').findIndex((line) => line.endsWith(text)) + 1}`;
}

/** Compiles what is required in memory, as ts-node does; has Node keep the maps, as tsx does, if there is `keeps`. */
const LOADER = `
const { readFileSync } = require('node:fs');
const { extensions } = require;
const { transformSync } = require(${JSON.stringify(join(root, 'node_modules', 'esbuild'))});
const keeps = process.execArgv.includes('--enable-source-maps');
extensions['.ts'] = (module, filename) => {
  const options = { loader: 'ts', format: 'cjs', sourcefile: filename, sourcemap: 'inline', minifyWhitespace: keeps };
  module._compile(transformSync(readFileSync(filename, 'utf8'), options).code, filename);
};
`;

async function recordingOf(script: string, flags: string[] = []): Promise<string> {
  const service = new TracedProcess(join(app, script), {
    // With --import Node loads no program by what was required.
    hook: '-r',
    flags,
    env: { TRACEWRIGHT_PROFILE: 'cpu:200', TRACEWRIGHT_STALL_MS: '50' },
    args: [spans],
  });
  expect(await service.ended()).toMatchObject({ code: 0, stderr: '' });
  return service.directory;
}

beforeAll(async () => {
  mkdirSync(join(app, 'src'));
  writeFileSync(join(app, 'package.json'), '{ "name": "orders" }');
  writeFileSync(source, SPIN);
  const main = join(app, 'src', 'main.ts');
  writeFileSync(main, MAIN);
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = [
    '--module',
    'commonjs',
    '--target',
    'es2022',
    '--typeRoots',
    join(app, 'none'),
    '--sourceMap',
  ];
  execFileSync(process.execPath, [tsc, ...options, '--outDir', join(app, 'dist'), main]);
  const bundle: BuildOptions = { entryPoints: [main], bundle: true, platform: 'node' };
  await build({ ...bundle, sourcemap: 'inline', outfile: join(app, 'bundle', 'main.js') });
  await build({ ...bundle, sourcemap: true, minify: true, outfile: join(app, 'min', 'main.js') });
});

describe.each(['dist', 'bundle', 'min'])('a TypeScript program in %s', (directory) => {
  it('is named by the lines of its sources everywhere', async () => {
    const run = await recordingOf(`${directory}/main.js`);
    const { report } = await reportOn(hephFiles(run));
    expect(report.interruptions.lines.map(({ line }) => line)).toContain(lineOf('// loop'));
    expect(report.errors.types.map(({ frame }) => frame?.replace(/.*\(|:\d+\)$/g, ''))).toEqual([
      lineOf('// throw'),
    ]);
    // All of a minified script is one line: only where a function begins is known.
    const expected = directory === 'min' ? lineOf(': number {') : lineOf('// loop');
    expect(report.profile[0]).toMatchObject({ function: 'spin', line: expected });
    const index = await openLookIndex([run]);
    try {
      const frames = (await sampledStacks(index)).flatMap(({ stacks }) =>
        stacks.flatMap((stack) => stack.frames),
      );
      const spin = frames.filter(({ name }) => name === 'spin');
      expect(new Set(spin.map(({ file }) => file))).toEqual(new Set([source]));
    } finally {
      index.close();
    }
  });
});

describe.each([[[]], [['--enable-source-maps']]])('a program compiled in memory %s', (flags) => {
  it('is named by the lines of its sources', async () => {
    const loader = join(app, 'loader.cjs');
    writeFileSync(loader, LOADER);
    const script = join('src', 'main.ts');
    const run = await recordingOf(script, [...flags, '--require', loader]);
    const { report } = await reportOn(hephFiles(run));
    expect(report.interruptions.lines.map(({ line }) => line)).toContain(lineOf('// loop'));
    // All of a minified script is one line: only where a function begins is known.
    const expected = flags.length > 0 ? lineOf(': number {') : lineOf('// loop');
    expect(report.profile[0]).toMatchObject({ function: 'spin', line: expected });
  });
});

describe('a program that was compiled again since', () => {
  it('has the lines of its scripts', async () => {
    const run = await recordingOf('dist/main.js');
    const script = join(app, 'dist', 'spin.js');
    const before = new Date(0);
    writeFileSync(script, readFileSync(script));
    // As tools that copy do.
    utimesSync(script, before, before);
    const { report } = await reportOn(hephFiles(run));
    const lines = report.interruptions.lines.map(({ line }) => line.replace(/:\d+$/, ''));
    expect(lines).toContain(script);
    expect(lines).not.toContain(source);
  });
});
