// Prints the title of every TypeScript test with its file, sorted, or compares them with an earlier list: then
// only the titles that went (-) and came (+) are printed.
//
//   node scripts/test-titles.mjs [EARLIER_LIST]

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { root } from './package-layout.mjs';

const directory = mkdtempSync(join(tmpdir(), 'tracewright-titles-'));
const list = join(directory, 'titles.json');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, 'list', `--json=${list}`], {
  cwd: root,
  encoding: 'utf8',
});
if (status !== 0) {
  process.stderr.write(`${stdout}${stderr}`);
  process.exit(1);
}
const titles = JSON.parse(readFileSync(list, 'utf8')).map(({ file, name }) =>
  JSON.stringify(`${relative(root, file)} > ${name}`),
);
rmSync(directory, { recursive: true });
titles.sort();

const [earlierList] = process.argv.slice(2);
if (earlierList === undefined) {
  process.stdout.write(`${titles.join('\n')}\n`);
} else {
  const earlier = readFileSync(earlierList, 'utf8').split('\n').slice(0, -1);
  /** One title may stand for several tests. */
  const without = (all, others) => {
    const counts = new Map();
    for (const each of others) counts.set(each, (counts.get(each) ?? 0) + 1);
    return all.filter((each) => {
      const count = counts.get(each) ?? 0;
      counts.set(each, count - 1);
      return count <= 0;
    });
  };
  for (const each of without(earlier, titles)) process.stdout.write(`- ${each}\n`);
  for (const each of without(titles, earlier)) process.stdout.write(`+ ${each}\n`);
}
