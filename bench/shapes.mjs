// Code of Node and of libraries that has seen more than four shapes of objects with the hook, and not without it. V8
// remembers four at a piece of code, and looks properties up from the fifth on, for the whole program.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../scripts/package-layout.mjs';
import { main } from './benchmark.mjs';
import { EXPRESS, SERVICE, startProgram } from './instructions.mjs';
import { installPackages } from './libraries-packages.mjs';

const SERVICES = [SERVICE, EXPRESS];
const REQUESTS = 6000;
const LOG = ['--log-ic', '--log-code', '--logfile-per-isolate', '--logfile=v8.log'];
/** A line of --log-ic. States: 0 for never, 1, P for up to four, N for more. */
const LOOK_UP = /^(\w+IC),0x(\w+),\d+,(\d+),(\d+),(.),(.),[^,]*,([^,]*)/;
const CODE = /^code-creation,[^,]*,[^,]*,[^,]*,0x(\w+),(\d+),(.*)$/;
/** Such as `publish node:diagnostics_channel:190:10`. */
const FUNCTION = /^(\S*) (\S+):\d+:\d+/;

/**
 * Runs a service under V8's log.
 *
 * @param {string} service
 * @param {readonly string[]} flags
 * @param {string} place
 */
async function logOf(service, flags, place) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  try {
    const { end } = await startProgram(service, {
      warmUp: REQUESTS,
      counted: 1,
      place,
      // Where the log goes. A path among V8's flags would make them others each time.
      cwd: directory,
      directory,
      flags: [...LOG, ...flags],
    });
    await end();
    const logs = readdirSync(directory).filter((name) => name.endsWith('.log'));
    const sizes = logs.map((name) => statSync(join(directory, name)).size);
    // The other one is of the thread that sends the requests.
    return readFileSync(join(directory, logs[sizes.indexOf(Math.max(...sizes))]), 'utf8');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Where V8 has given up to remember shapes, outside of the package: the place, and the last property.
 *
 * @param {string} log
 * @returns {Map<string, string>}
 */
function lookUps(log) {
  const codes = [];
  const found = new Map();
  for (const line of log.split('\n')) {
    const code = CODE.exec(line);
    if (code !== null) {
      const from = Number.parseInt(code[1], 16);
      codes.push({ from, to: from + Number(code[2]), name: code[3] });
    }
    const [, kind, address, row, column, before, after, property] = LOOK_UP.exec(line) ?? [];
    if (after !== 'N' || before === 'N') continue;
    const at = Number.parseInt(address, 16);
    const name = codes.findLast(({ from, to }) => from <= at && at < to)?.name ?? '';
    // What lies in Node's snapshot is logged without its name.
    const [, of = '', file = 'node, unnamed'] = FUNCTION.exec(name) ?? [];
    if (file.includes(`${root}/dist/`)) continue;
    const where = file.replace(/^.*\/node_modules\//, '');
    found.set(`${where}:${row}:${column}, ${kind}`, `${of} ${property}`.trim());
  }
  return found;
}

async function measure() {
  const place = installPackages();
  const hook = ['--import', import.meta.resolve('tracewright/register')];
  const rows = [];
  // With other flags of V8 the hook saves its code anew, and starts otherwise once.
  await logOf(SERVICE, hook, place);
  for (const service of SERVICES) {
    const plain = lookUps(await logOf(service, [], place));
    const hooked = lookUps(await logOf(service, hook, place));
    rows.push([service, `all: ${hooked.size}, without the hook ${plain.size}`, '']);
    for (const [where, property] of hooked) {
      if (!plain.has(where)) rows.push([service, where, property]);
    }
  }
  return {
    tables: [
      {
        title: `Code that looks properties up with the hook only, after ${REQUESTS} requests`,
        columns: ['service', 'line, and kind of look-up', 'function and property'],
        rows,
      },
    ],
    notes: ['From the log that V8 writes with --log-ic. The lines are of the version of Node.'],
  };
}

await main(import.meta.url, { title: 'Shapes of objects that Node and libraries meet', measure });
