// Runs scripts of package.json side by side, as many as there are processors, and prints the output
// of each when it ends. All run, also after one has failed.
//
//   node scripts/side-by-side.mjs SCRIPT...

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { root } from './package-layout.mjs';

/** Runs a script and resolves to whether it succeeded. */
function run(name) {
  return new Promise((resolve) => {
    const start = performance.now();
    const child = spawn('npm', ['run', '--silent', name], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let words = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        words += text;
      });
    }
    const end = (outcome) => {
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      process.stdout.write(`${words}${outcome.padEnd(8)}${name} (${seconds} s)\n`);
      resolve(outcome === 'ok');
    };
    child.on('error', (error) => {
      end(`FAILED (${error.message})`);
    });
    child.on('close', (code, signal) => {
      end(code === 0 ? 'ok' : `FAILED (${code ?? signal})`);
    });
  });
}

const waiting = process.argv.slice(2);
async function runWaiting() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (!(await run(name))) process.exitCode = 1;
  }
}
if (waiting.length === 0) {
  process.stderr.write('Usage: node scripts/side-by-side.mjs SCRIPT...\n');
  process.exitCode = 2;
}
await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
