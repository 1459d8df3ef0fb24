// An outage: for a minute every request fails. The limit of what is kept must hold, each route and type of error must be
// there, and what was released must be counted.

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readPackets } from 'tracewright/heph';
import { configure, readSpans, shutdown, startSpan } from 'tracewright/spans';
import { readOptions } from './options.mjs';
import { Random } from './random.mjs';

const options = readOptions(
  `usage: npm run torture:keep-outage -- [--seconds N] [--rate N] [--seed N] [--directory PATH]

  --seconds N       how long every request fails: 60 unless set
  --rate N          requests a second: 2,000 unless set
  --seed N          which routes fail how; default: chosen by the time, and printed
  --directory PATH  where the trace goes; default: the directory for temporary files
`,
  {
    seconds: { type: 'string', default: '60' },
    rate: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    directory: { type: 'string', default: tmpdir() },
  },
);

const LIMIT = 100;
const TURN_MS = 5;
const ROUTES = 10;
const TYPES = ['RangeError', 'TypeError', 'Error'];
/** Of a second that follows another one, and of any, how many more than the limit. */
const MOST_OF_AVERAGE = 1.25;
const MOST_OF_SECOND = 3;
/** One of so many requests is of a kind of its own: a route that is rarely asked for. */
const RARE = 5000;

const random = new Random(Number(options.seed));
const directory = mkdtempSync(join(options.directory, 'tracewright-keep-'));
const target = join(directory, 'trace.heph');
/** How many there were of each kind. */
const log = new Map();
let rare = 0;

function fail() {
  // Half of all are of the first route.
  const route = random.chance(0.5) ? 0 : random.integer(0, ROUTES - 1);
  const isRare = random.chance(1 / RARE);
  const name = isRare ? `GET /rare/${rare++}` : `GET /often/${route}`;
  const type = random.pick(TYPES);
  const root = startSpan(name, { 'error.type': type }, { kind: 'server', parent: null });
  startSpan('query', {}, { parent: root }).end();
  root.fail();
  root.end();
  const kind = `${name} ${type}`;
  log.set(kind, (log.get(kind) ?? 0) + 1);
}

async function found() {
  const kept = new Map();
  const seconds = new Map();
  let weight = 0;
  for await (const span of readSpans(target)) {
    if (span.parentSpanId !== undefined) continue;
    const kind = `${span.name} ${span.attributes['error.type']}`;
    kept.set(kind, (kept.get(kind) ?? 0) + 1);
    weight += span.kept.weight;
    const second = span.end / 1_000_000_000n;
    seconds.set(second, (seconds.get(second) ?? 0) + 1);
  }
  let released = 0;
  for (const packet of readPackets(target)) {
    if (packet.kind !== 'event' || packet.description !== 'tracewright.released') continue;
    const value = (wanted) => packet.attributes.find(({ name }) => name === wanted)?.value;
    if (value('below') === undefined) released += Number(value('errors'));
  }
  return { kept, seconds: [...seconds.values()], weight, released };
}

const faults = [];
try {
  configure({ target, service: 'torture', keep: { errors: true, limit: LIMIT } });
  const begun = performance.now();
  const end = Number(options.seconds) * 1000;
  let sent = 0;
  for (let now = 0; now < end; now = performance.now() - begun) {
    for (; sent < (now * Number(options.rate)) / 1000; sent++) fail();
    await sleep(TURN_MS);
  }
  await shutdown();
  const { kept, seconds, weight, released } = await found();
  const all = [...kept.values()].reduce((sum, each) => sum + each, 0);
  const average = all / (end / 1000);
  const most = Math.max(...seconds);
  const kinds = log.size - rare;
  console.log(
    `seed ${options.seed}: ${sent} failed requests of ${log.size} kinds in ${options.seconds} s: ${all} kept, ${average.toFixed(1)} a second and at most ${most}, for ${Math.round(weight)}; ${released} counted; ${statSync(target).size} bytes`,
  );
  for (const kind of log.keys()) if (!kept.has(kind)) faults.push(`nothing of ${kind}`);
  if (all + released !== sent) faults.push(`${all} kept and ${released} counted of ${sent}`);
  // A second has at least one of each kind, and the first one no rate of the failures before it.
  const first = ((MOST_OF_SECOND - MOST_OF_AVERAGE) * LIMIT) / seconds.length;
  const allowed = MOST_OF_AVERAGE * LIMIT + kinds + first;
  if (average > allowed) faults.push(`${average} a second are kept, of at most ${allowed}`);
  if (most > MOST_OF_SECOND * LIMIT + kinds) faults.push(`${most} are kept in a second`);
  if (Math.abs(weight / sent - 1) > 0.2) faults.push(`the weights stand for ${weight} of ${sent}`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
for (const each of faults) console.error(each);
if (faults.length > 0) process.exitCode = 1;
