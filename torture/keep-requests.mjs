// Millions of requests in one process, 200 at any time, of which slow and failed ones are kept: with awaits and workers,
// spans that end or begin after their root, two local roots of one trace, roots that never end, and workers that are
// blocked or terminated. What is in the trace is compared with the program's own log.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPackets } from 'tracewright/heph';
import { readSpans } from 'tracewright/spans';
import { bucketOf, KEEP } from './keep-rules.mjs';
import { readOptions } from './options.mjs';

const options = readOptions(
  `usage: npm run torture:keep-requests -- [--requests N] [--seed N] [--directory PATH] [--keep]

  --requests N      how many: 10,000,000 unless set
  --seed N          what the requests are like; default: chosen by the time, and printed
  --directory PATH  where trace and log go; default: the directory for temporary files
  --keep            they stay there

It is an error if a slow or failed request is not whole, one that is kept should not be, a count or a histogram is not
what the program has counted itself, or memory grows.
`,
  {
    requests: { type: 'string', default: '10000000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    directory: { type: 'string', default: tmpdir() },
    keep: { type: 'boolean' },
  },
);

const MOST_GROWTH = 64 << 20;
const CHILD = fileURLToPath(new URL('keep-requests-child.mjs', import.meta.url));
const faults = [];
function fault(what) {
  faults.push(what);
}

/** By trace: what it is, how many spans it has, and the worker that has some of them. */
function logged(path) {
  const traces = new Map();
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [what, id, spans, role = ''] = line.split(' ');
    if (id !== undefined) traces.set(id, { what, spans: Number(spans), role });
  }
  return traces;
}

async function recorded(file) {
  const traces = new Map();
  const requests = new Map();
  const ids = new Set();
  for await (const span of readSpans(file)) {
    if (ids.has(span.spanId)) fault(`span ${span.spanId} is there twice`);
    ids.add(span.spanId);
    const trace = traces.get(span.traceId) ?? { spans: 0, reasons: new Set() };
    traces.set(span.traceId, trace);
    trace.reasons.add(span.kept?.reason);
    if (span.unfinished) continue;
    trace.spans++;
    if (span.kind !== 'server') continue;
    const own = requests.get(span.name) ?? { count: 0, errors: 0, buckets: {} };
    requests.set(span.name, own);
    own.count++;
    if (span.status.code === 'error') own.errors++;
    const bucket = bucketOf(Number(span.end - span.start));
    own.buckets[bucket] = (own.buckets[bucket] ?? 0) + 1;
  }
  return { traces, requests };
}

/** Adds the requests that were not kept. */
function addReleased(file, requests) {
  for (const packet of readPackets(file)) {
    if (packet.kind !== 'event' || packet.description !== 'tracewright.released') continue;
    const value = (wanted) => packet.attributes.find(({ name }) => name === wanted)?.value;
    // Operations, and parts of requests in workers.
    if (value('below') === 1n || value('name') === 'part') continue;
    const name = value('name');
    const own = requests.get(name) ?? { count: 0, errors: 0, buckets: {} };
    requests.set(name, own);
    own.count += Number(value('count'));
    own.errors += Number(value('errors'));
    for (const each of value('durations').split(',')) {
      const [bucket, count] = each.split(':').map(Number);
      own.buckets[bucket] = (own.buckets[bucket] ?? 0) + count;
    }
  }
}

function checkTraces(log, traces) {
  const counts = { kept: 0, share: 0, spans: 0 };
  for (const [id, { what, spans, role }] of log) {
    const trace = traces.get(id);
    if (what === 'kept' || what === 'share') {
      counts[what]++;
      counts.spans += spans;
      if (trace?.spans !== spans) {
        fault(`${what} trace ${id}: ${trace?.spans ?? 0} of ${spans} spans${role && `, ${role}`}`);
      }
    } else if (role === 'doomed') {
      // What a terminated worker had is there, undecided.
      continue;
    } else if (what === 'maybe' && trace !== undefined && trace.spans !== spans) {
      fault(`trace ${id}: ${trace.spans} of ${spans} spans`);
    }
  }
  for (const [id, { reasons }] of traces) {
    if (log.has(id) || [...reasons].every((reason) => reason === undefined)) continue;
    fault(`trace ${id} is there for ${[...reasons].join(', ')}, and should not`);
  }
  return counts;
}

/** Of each bucket, how many are below it. */
function below(buckets, upto) {
  let sum = 0;
  for (const [bucket, count] of Object.entries(buckets)) if (Number(bucket) < upto) sum += count;
  return sum;
}

function checkFigures(figures, requests) {
  for (const [name, truth] of Object.entries(figures)) {
    const found = requests.get(name) ?? { count: 0, errors: 0, buckets: {} };
    if (found.count !== truth.count) fault(`${name}: ${found.count} of ${truth.count} requests`);
    if (found.errors !== truth.errors) fault(`${name}: ${found.errors} of ${truth.errors} errors`);
    for (const bucket of Object.keys(found.buckets).map(Number)) {
      const count = below(found.buckets, bucket);
      const [least, most] = [below(truth.most, bucket - 1), below(truth.least, bucket + 1)];
      if (count < least || count > most) {
        fault(`${name}: ${count} below bucket ${bucket}, of ${least} to ${most}`);
      }
    }
  }
  for (const name of requests.keys()) if (!(name in figures)) fault(`requests ${name} never were`);
}

/** After the first fifth memory may not grow. */
function checkMemory(memory) {
  const warm = memory.slice(Math.floor(memory.length / 5));
  const half = Math.floor(warm.length / 2);
  const [first, second] = [Math.max(...warm.slice(0, half)), Math.max(...warm.slice(half))];
  if (second - first > MOST_GROWTH) fault(`memory has grown from ${first} to ${second} bytes`);
  return second;
}

const directory = mkdtempSync(join(options.directory, 'tracewright-keep-'));
const [file, log] = [join(directory, 'trace.heph'), join(directory, 'log')];
const begun = performance.now();
try {
  const child = spawn(process.execPath, [CHILD, file, log, options.requests, options.seed], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code, signal] = await once(child, 'exit');
  if (code !== 0) throw new Error(`seed ${options.seed}: the program ended with ${code ?? signal}`);
  const { figures, memory } = JSON.parse(readFileSync(`${log}.figures`, 'utf8'));
  const { traces, requests } = await recorded(file);
  addReleased(file, requests);
  const counts = checkTraces(logged(`${log}.traces`), traces);
  checkFigures(figures, requests);
  const rss = checkMemory(memory);
  const all = Object.values(figures).reduce((sum, { count }) => sum + count, 0);
  // A second local root has the trace of another one.
  const ids = all - (figures.second?.count ?? 0);
  const expected = KEEP.ratio * (ids - counts.kept);
  console.log(
    `seed ${options.seed}: ${all} requests in ${Math.round((performance.now() - begun) / 1000)} s: ${counts.kept} slow or failed and ${counts.share} of the share (expected ${Math.round(expected)}), with ${counts.spans} spans; ${statSync(file).size} bytes; at most ${Math.round(rss / 2 ** 20)} MiB`,
  );
  if (Math.abs(counts.share - expected) > 5 * Math.sqrt(expected) + 1) fault('the share is wrong');
} finally {
  if (!options.keep) rmSync(directory, { recursive: true, force: true });
}
for (const each of faults.slice(0, 20)) console.error(each);
if (faults.length > 0) {
  console.error(`${faults.length} faults`);
  process.exitCode = 1;
}
