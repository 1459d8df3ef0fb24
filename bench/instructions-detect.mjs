// Whether bench/instructions.mjs --check finds a build that is 3 % slower, and passes one that has not changed.

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../scripts/package-layout.mjs';
import { main } from './benchmark.mjs';
import { NOT_COUNTED } from './callgrind.mjs';
import { countOnce, PATHS, PROCESSES, SLOWER } from './instructions.mjs';
import { median } from './median.mjs';

const PATH = 'startSpan';
const CHECKS = 10;
/** What becomes slower: a loop of so many turns comes before it. */
const FILE = 'dist/spans/spans.js';
const SLOWED = '(this.state = ENDED, this.output.record(this, endTime))';
const TURNS = 6;

/** A copy of the package, with a loop more in each end of a span. */
function slowerCopy(/** @type {string} */ directory) {
  for (const part of ['dist', 'package.json', 'bench/instructions-program.mjs']) {
    cpSync(join(root, part), join(directory, part), { recursive: true });
  }
  mkdirSync(join(directory, 'build'));
  for (const part of ['build/Release', 'node_modules']) {
    symlinkSync(join(root, part), join(directory, part));
  }
  const source = readFileSync(join(directory, FILE), 'utf8');
  const found = source.split(SLOWED).length - 1;
  if (found !== 1) throw new Error(`${FILE} has ${found} ends of a span; one is expected`);
  const slower = `function slower(span) {
  for (let i = 0; i < ${TURNS}; i++) span.count = (span.count ^ i) | 0;
}\n`;
  writeFileSync(
    join(directory, FILE),
    source.replace(SLOWED, `(slower(this), ${SLOWED.slice(1)}`) + slower,
  );
  return join(directory, 'bench/instructions-program.mjs');
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  if (NOT_COUNTED !== undefined) return { tables: [], notes: [`Skipped: ${NOT_COUNTED}.`] };
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-slower-'));
  try {
    const slower = slowerCopy(directory);
    const checks = quick ? 2 : CHECKS;
    const check = async (/** @type {string | undefined} */ program) => {
      const found = [];
      for (let i = 0; i < PROCESSES; i++) {
        found.push(await countOnce(PATH, PATHS[PATH], root, program));
      }
      return median(found);
    };
    const kept = await check(undefined);
    const rows = [];
    for (let i = 0; i < checks; i++) rows.push([await check(undefined), await check(slower)]);
    const more = rows.map((row) => row.map((figure) => 100 * (figure / kept - 1)));
    const detected = [0, 1].map((column) => more.filter((row) => row[column] > SLOWER).length);
    return {
      tables: [
        {
          title: `Instructions of ${PATH}, each the median of ${PROCESSES} processes, against ${Math.round(kept)}`,
          columns: ['check', 'unchanged', 'more %', 'with a loop in end', 'more %'],
          rows: rows.map(([same, slow], i) => [i + 1, same, more[i][0], slow, more[i][1]]),
        },
      ],
      goals: [
        {
          goal: `the slower build is detected ${checks} of ${checks} times`,
          figure: detected[1],
          met: detected[1] === checks,
        },
        {
          goal: `the unchanged build is detected 0 of ${checks} times`,
          figure: detected[0],
          met: detected[0] === 0,
        },
      ],
      notes: [
        `Slower is more than ${SLOWER} %. Counted by callgrind, without the garbage collector.`,
      ],
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main(import.meta.url, { title: 'What the check of instructions finds', measure });
