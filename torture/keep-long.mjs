// A request of a minute among thousands of others a second, in a waiting ring of 8 MiB that these fill many times: all of
// its spans must be in the trace.

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { configure, readSpans, shutdown, startSpan } from 'tracewright/spans';
import { readOptions } from './options.mjs';

const options = readOptions(
  `usage: npm run torture:keep-long -- [--seconds N] [--rate N] [--directory PATH]

  --seconds N       how long the request takes: 60 unless set
  --rate N          other requests a second: 2,000 unless set
  --directory PATH  where the trace goes; default: the directory for temporary files
`,
  {
    seconds: { type: 'string', default: '60' },
    rate: { type: 'string', default: '2000' },
    directory: { type: 'string', default: tmpdir() },
  },
);

const TURN_MS = 5;
const CHILD_MS = 100;
const CHILDREN = 4;
const SECOND = 1000;
const end = Number(options.seconds) * SECOND;
const directory = mkdtempSync(join(options.directory, 'tracewright-keep-'));

/** @param {string} name */
function begin(name) {
  return startSpan(name, { 'http.request.method': 'GET' }, { kind: 'server', parent: null });
}

function query(parent) {
  startSpan('SELECT orders', { 'db.system.name': 'postgresql' }, { parent }).end();
}

/** @param {string} name @param {import('tracewright/spans').KeepOptions} keep */
async function run(name, keep) {
  const target = join(directory, `${name}.heph`);
  configure({ target, service: 'torture', keep });
  const begun = performance.now();
  const long = begin('long');
  let [sent, queries] = [0, 0];
  for (let now = 0; now < end; now = performance.now() - begun) {
    for (; queries < now / CHILD_MS; queries++) query(long);
    for (; sent < (now * Number(options.rate)) / SECOND; sent++) {
      const other = begin('GET /other');
      for (let i = 0; i < CHILDREN; i++) query(other);
      other.end();
    }
    await sleep(TURN_MS);
  }
  if (keep.errors) long.fail();
  long.end();
  await shutdown();
  let found = 0;
  for await (const span of readSpans(target)) if (span.traceId === long.ids.trace_id) found++;
  console.log(
    `${name}: ${found} of ${queries + 1} spans of a request of ${options.seconds} s, among ${sent} others; ${statSync(target).size} bytes`,
  );
  if (found !== queries + 1) process.exitCode = 1;
}

try {
  // Known to be slow soon, and known to be kept at its end alone.
  await run('slow', { slowerThan: 500 });
  await run('failed', { errors: true });
} finally {
  rmSync(directory, { recursive: true, force: true });
}
