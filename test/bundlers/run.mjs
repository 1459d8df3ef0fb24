// Tests the package in what bundlers make of it and under loaders, each with a small service whose
// traces are checked. npm brings the tools; they are no dependencies.
//
//   npm run test:bundlers -- [NAME ...]

import { rmSync } from 'node:fs';
import { cases } from './cases.mjs';
import { installTools } from './tools.mjs';

const wanted = process.argv.slice(2);
for (const name of wanted) {
  if (name in cases) continue;
  process.stderr.write(`${name}: unknown; there are ${Object.keys(cases).join(', ')}\n`);
  process.exit(2);
}

const tools = installTools();
for (const [name, test] of Object.entries(cases)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const projects = [];
  try {
    await test(tools, projects);
    process.stdout.write(`${name}: works\n`);
  } catch (error) {
    process.exitCode = 1;
    process.stdout.write(`${name}: FAILS\n${String(error?.message ?? error)}\n`);
  } finally {
    if (process.env.TRACEWRIGHT_TEST_KEEP !== '1') {
      for (const { directory } of projects) rmSync(directory, { recursive: true, force: true });
    }
  }
}
