// Runs the benchmarks one after another, each in a process of its own, and prints what they found.
//
//   node bench/run.mjs [--only NAME]... [--node VERSION] [--quick] [--full]
//                     [--json | --docs]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { otherNode, VERSION } from '../scripts/other-node.mjs';
import { machine, machineText, resultMarkdown, resultText } from './benchmark.mjs';

const NAMES = [
  'ovni-event',
  'heph-span',
  'spans',
  'keep',
  'keep-services',
  'otel',
  'otel-service',
  'dumpi-call',
  'dumpi-pool',
  'laplace',
  'heap',
  'sustained',
  'stall',
  'drop',
  'udp',
  'ovni-readback',
  'recovery',
  'report',
  'profiled-hour',
  'http',
  'http-spans',
  'libraries-service',
  'databases-service',
  'profile-service',
  'tracing-channel',
  'loop-watch',
  'idle-service',
  'look-ups',
  'redaction',
  'look-index',
  'start',
  'start-otel',
  'module-hooks',
  'shapes',
  'first-load',
  'view',
  'convert',
  'ship',
  'ship-delay',
];

/** Those that run with `--only` alone: they need what few machines have. */
const ON_REQUEST = [
  'http-instructions',
  'ship-service',
  'instructions',
  'instructions-detect',
  'cache-misses',
  'start-instructions',
];

/** Those that know `--full`. */
const WITH_FULL = ['convert'];

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    docs: { type: 'boolean' },
    full: { type: 'boolean' },
    json: { type: 'boolean' },
    node: { type: 'string' },
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean' },
  },
});
if (values.help) {
  console.log(`usage: npm run bench -- [--only NAME]... [--node VERSION] [--quick] [--full] [--json | --docs]

  --only NAME     ${NAMES.join(', ')};
                  and, by name alone: ${ON_REQUEST.join(', ')}
  --node VERSION  on that Node, such as 24, which npm brings; default: the one that runs this
  --quick         a tenth of the work: does it run, not how fast
  --full          what takes minutes as well, in benchmarks that have such a part (convert)
  --json          one JSON document with every figure
  --docs          put the figures into the pages of bench/figures/ as well

Each benchmark is a program too: node bench/NAME.mjs --help. The exit code is 2 when a goal is missed.
Close what else runs on the machine.`);
  process.exit(0);
}
const known = [...NAMES, ...ON_REQUEST];
const wrong = values.only?.find((name) => !known.includes(name));
if (wrong !== undefined) {
  console.error(`no benchmark ${wrong}; there are ${known.join(', ')}`);
  process.exit(1);
}

if (values.node !== undefined && !VERSION.test(values.node)) {
  console.error(`--node ${values.node} is no version such as 24, or 24.1.0`);
  process.exit(1);
}
const nodeDirectory = values.node === undefined ? undefined : otherNode(values.node);
const node = nodeDirectory === undefined ? process.execPath : join(nodeDirectory, 'node');
// What a benchmark starts by name is of the same version.
const env =
  nodeDirectory === undefined
    ? process.env
    : { ...process.env, PATH: `${nodeDirectory}${delimiter}${process.env.PATH}` };

/** @param {string} name */
async function run(name) {
  const file = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
  const args = [file, '--json', ...(values.quick ? ['--quick'] : [])];
  if (values.full && WITH_FULL.includes(name)) args.push('--full');
  const child = spawn(node, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  if (code !== 0 && code !== 2) throw new Error(`${name} failed with exit code ${code}`);
  return { name, ...JSON.parse(output) };
}

const figures = new URL('figures/', import.meta.url);
const pages = readdirSync(figures).map((file) => new URL(file, figures));

/** The page that has a benchmark's marks, and where between them its figures go. */
function placeOf(name) {
  const [from, to] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  for (const page of pages) {
    const text = readFileSync(page, 'utf8');
    const [start, end] = [text.indexOf(from), text.indexOf(to)];
    if (start !== -1 && end > start) return { page, text, start: start + from.length, end };
  }
  return undefined;
}

/**
 * @param {string} name
 * @param {Awaited<ReturnType<typeof run>>} result
 */
function writeDocs(name, result) {
  const { page, text, start, end } = placeOf(name);
  const figures = `\n\n${machineText(result.machine)}\n${resultMarkdown(result, result.machine.node)}\n`;
  writeFileSync(page, text.slice(0, start) + figures + text.slice(end));
}

const names = values.only ?? NAMES;
if (values.docs) {
  // Before hours of measuring, not after them. Without --only, what has no page is only printed.
  const unmarked = values.only?.find((name) => placeOf(name) === undefined);
  if (unmarked !== undefined) {
    console.error(`no page in bench/figures has marks for ${unmarked}`);
    process.exit(1);
  }
}
const results = [];
let missed = 0;
let failed = 0;
for (const name of names) {
  try {
    const result = await run(name);
    results.push(result);
    missed += (result.goals ?? []).filter(({ met }) => !met).length;
    // One that was skipped has no tables.
    if (values.docs && result.tables.length > 0 && placeOf(name) !== undefined) {
      writeDocs(name, result);
    }
    const heading = `== ${name}: ${result.title}\n${machineText(result.machine)}`;
    if (!values.json) console.log(`${heading}\n${resultText(result)}`);
  } catch (error) {
    failed += 1;
    console.error(error);
  }
}
if (values.json)
  console.log(JSON.stringify({ machine: results[0]?.machine ?? machine(), results }, null, 2));
else {
  if (failed > 0) console.log(`${failed} of ${names.length} benchmarks failed.`);
  else console.log(missed === 0 ? 'All goals are met.' : `${missed} goals are missed.`);
}
process.exitCode = failed > 0 ? 1 : missed > 0 ? 2 : 0;
