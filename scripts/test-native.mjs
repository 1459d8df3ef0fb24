// Compiles the native core's own tests and runs each in a process of its own, so that a crash, a
// hang or a process-wide setting concerns one test only.
//
//   node scripts/test-native.mjs [--sanitize address|thread|undefined] [--filter TEXT] [--help]

import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  addonFlags,
  addonObjects,
  compileSources,
  gypTarget,
  root,
  runCompiler,
  SANITIZERS,
} from './compile-native.mjs';

const TIMEOUT_MS = 180_000;

const USAGE = `Usage: node scripts/test-native.mjs [options]

  --sanitize KIND   address (with undefined), thread or undefined
  --filter TEXT     only tests whose name contains TEXT
  --help            this text
`;

const { values: options } = parseArgs({
  options: {
    sanitize: { type: 'string' },
    filter: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const sanitizer = options.sanitize === undefined ? [] : SANITIZERS[options.sanitize];
if (sanitizer === undefined) {
  process.stderr.write(`--sanitize must be ${Object.keys(SANITIZERS).join(', ')}\n\n${USAGE}`);
  process.exit(2);
}

const target = gypTarget('tracewright');
// native/addon needs Node, and these tests run without it.
const core = target.sources.filter((source) => !source.startsWith('native/addon/'));
const tests = readdirSync(join(root, 'native/test'))
  .filter((name) => name.endsWith('.cc'))
  .map((name) => `native/test/${name}`);
// -O1 compiles faster, and keeps the stacks of sanitizers readable.
const flags = [
  ...target.cflags_cc.map((flag) => (flag === '-O3' ? '-O1' : flag)),
  ...sanitizer,
  ...(sanitizer.length > 0 ? ['-g', '-fno-omit-frame-pointer'] : []),
  '-pthread',
  `-I${join(root, 'native')}`,
];
const build = join(root, 'build', 'native-test', options.sanitize ?? 'plain');
const own = join(build, 'objects');
mkdirSync(build, { recursive: true });
const objects =
  sanitizer.length > 0
    ? await compileSources([...core, ...tests], flags, own)
    : [
        // The objects of the addon itself: what is tested is what is shipped.
        ...(await compileSources(core, addonFlags(target), addonObjects(target))),
        ...(await compileSources(tests, flags, own)),
      ];
const binary = join(build, 'native-test');
await runCompiler([...sanitizer, '-pthread', ...objects, '-o', binary], 'native-test');

const SKIPPED = 77;

/** Runs one test and resolves to its exit code, or the name of the signal that ended it, and its words. */
function run(name) {
  return new Promise((resolve) => {
    const child = spawn(binary, [name], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      env: {
        UBSAN_OPTIONS: 'print_stacktrace=1',
        TSAN_OPTIONS: 'second_deadlock_stack=1',
        ...process.env,
      },
    });
    let words = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        words += text;
      });
    }
    child.on('error', (error) => {
      resolve({ result: error.message, words });
    });
    child.on('close', (code, signal) => {
      resolve({ result: code ?? signal, words });
    });
  });
}

const names = execFileSync(binary, ['--list'], { encoding: 'utf8' })
  .split('\n')
  .filter((name) => name !== '' && name.includes(options.filter));
if (names.length === 0) {
  process.stderr.write(`no test has a name with ${options.filter}\n`);
  process.exit(2);
}
const failed = [];
let skipped = 0;
const waiting = [...names];
async function runWaiting() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const start = performance.now();
    const { result, words } = await run(name);
    const ms = Math.round(performance.now() - start);
    const word = result === 0 ? 'ok' : result === SKIPPED ? 'skipped' : `FAILED (${result})`;
    process.stdout.write(`${words}${word.padEnd(8)}${name} (${ms} ms)\n`);
    if (result === SKIPPED) skipped += 1;
    else if (result !== 0) failed.push(name);
  }
}
// Most of them wait: for a clock, or for a thread that sleeps.
await Promise.all(Array.from({ length: 2 * availableParallelism() }, runWaiting));
const passed = names.length - failed.length - skipped;
process.stdout.write(
  `${passed} passed, ${skipped} skipped, ${failed.length} failed` +
    `${options.sanitize === undefined ? '' : ` under the ${options.sanitize} sanitizer`}\n`,
);
const counts = process.env.TRACEWRIGHT_TEST_COUNTS;
if (counts !== undefined) {
  const sum = { passed, failed: failed.length, skipped };
  const failures = failed.map((name) => `  native: ${name}`);
  appendFileSync(counts, `${JSON.stringify({ counts: sum, failures })}\n`);
}
process.exitCode = failed.length === 0 ? 0 : 1;
