// Runs the benchmarks one after another, each in a process of its own, and prints what they found.
//
//   node bench/run.mjs [--only NAME]... [--quick] [--json | --markdown]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machine, machineText, resultMarkdown, resultText } from './benchmark.mjs';

const NAMES = ['ovni-event', 'heph-span', 'heap', 'sustained', 'udp', 'ovni-readback', 'http'];

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    json: { type: 'boolean' },
    markdown: { type: 'boolean' },
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean' },
  },
});
if (values.help) {
  console.log(`usage: npm run bench -- [--only NAME]... [--quick] [--json | --markdown]

  --only NAME  ${NAMES.join(', ')}
  --quick      a tenth of the work: does it run, not how fast
  --json       one JSON document with every figure
  --markdown   the tables as they stand in docs/performance.md

Each benchmark is a program too: node bench/NAME.mjs --help. The exit code is 2 when a goal is missed.
Close what else runs on the machine.`);
  process.exit(0);
}
const wrong = values.only?.find((name) => !NAMES.includes(name));
if (wrong !== undefined) {
  console.error(`no benchmark ${wrong}; there are ${NAMES.join(', ')}`);
  process.exit(1);
}

/** @param {string} name */
async function run(name) {
  const file = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
  const args = [file, '--json', ...(values.quick ? ['--quick'] : [])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  if (code !== 0 && code !== 2) throw new Error(`${name} failed with exit code ${code}`);
  return { name, ...JSON.parse(output) };
}

const results = [];
let missed = 0;
let failed = 0;
if (!values.json) console.log(machineText(machine()));
for (const name of values.only ?? NAMES) {
  try {
    const result = await run(name);
    results.push(result);
    missed += (result.goals ?? []).filter(({ met }) => !met).length;
    if (values.markdown) console.log(`### ${result.title}\n\n${resultMarkdown(result)}`);
    else if (!values.json) console.log(`== ${name}: ${result.title}\n\n${resultText(result)}`);
  } catch (error) {
    failed += 1;
    console.error(error instanceof Error ? error.message : error);
  }
}
if (values.json) console.log(JSON.stringify({ machine: machine(), results }, null, 2));
else if (!values.markdown)
  console.log(missed === 0 ? 'All goals are met.' : `${missed} goals are missed.`);
process.exitCode = failed > 0 ? 1 : missed > 0 ? 2 : 0;
