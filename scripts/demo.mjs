// Shows what tracing a service costs and gives: the example service, plain and traced, under the same
// load; then its traces, checked.
//
//   npm run demo -- [--seconds N] [--connections N] [--json]

import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import * as heph from 'tracewright/heph';
import * as ovni from 'tracewright/ovni';
import { DemoService } from './demo-service.mjs';

const HELP = `Usage: npm run demo -- [options]

Runs the example service plain and with \`--import tracewright/register\`, puts
the same load on both in turns, ends them by SIGTERM, checks the traces, and says
what was recorded and what it cost. The traces stay in traces/.

  --seconds N      seconds of load on each, 1 to 600 (default 5)
  --connections N  connections at a time, 1 to 1000 (default 32)
  --json           print one JSON object instead of a table
  --help           print this

The load comes from wrk where it is installed, else from a client of node:http.
Exit code: 0 all is well, 1 something was lost or a check failed, 2 wrong usage.
`;

function usage(message) {
  process.stderr.write(`demo: ${message}\n\n${HELP}`);
  process.exit(2);
}

function options() {
  try {
    const { values } = parseArgs({
      options: {
        seconds: { type: 'string', default: '5' },
        connections: { type: 'string', default: '32' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    return values;
  } catch (error) {
    return usage(error.message);
  }
}

function integer(name, text, high) {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= high) return value;
  return usage(`--${name} must be an integer from 1 to ${high}, got ${JSON.stringify(text)}`);
}

const given = options();
if (given.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const seconds = integer('seconds', given.seconds, 600);
const connections = integer('connections', given.connections, 1000);

const run = promisify(execFile);
const loadScript = fileURLToPath(new URL('demo-load.mjs', import.meta.url));
const hasWrk = spawnSync('wrk', ['-v']).error === undefined;
const PAGE = '/books/2?from=demo';
const MIXED = [
  '/books',
  '/primes?below=100000',
  '/countdown?from=50',
  '/slow?ms=20',
  '/nothing-here',
];

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

/** Seconds that the load does not take: starting, warming up, reading the traces. */
const OTHER_SECONDS = 8;

/** Load by our own client, over several pages. */
async function clientLoad(origin, forSeconds, paths) {
  const { stdout } = await run(process.execPath, [
    loadScript,
    ...['--origin', origin, '--seconds', forSeconds, '--connections', connections].map(String),
    ...paths,
  ]);
  return JSON.parse(stdout);
}

/** Load on one page by wrk, which takes less of the machine for itself. */
async function wrkLoad(origin, forSeconds) {
  const { stdout } = await run('wrk', [
    ...['-t', '1', '-c', connections, '-d', `${forSeconds}s`].map(String),
    `${origin}${PAGE}`,
  ]);
  const [, answered, time, unit] = /(\d+) requests in ([\d.]+)(ms|s|m)/.exec(stdout);
  const errors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(
    stdout,
  );
  const failed = errors === null ? 0 : errors.slice(1).reduce((sum, n) => sum + Number(n), 0);
  const scale = { ms: 0.001, s: 1, m: 60 }[unit];
  return { answered: Number(answered), failed, seconds: Number(time) * scale };
}

async function slice(service, counted) {
  const cpuBefore = service.cpuTime();
  const load = hasWrk
    ? await wrkLoad(service.origin, 1)
    : await clientLoad(service.origin, 1, [PAGE]);
  if (load.failed > 0) throw new Error(`${load.failed} requests failed`);
  service.answered += load.answered;
  if (!counted) return;
  service.rates.push(load.answered / load.seconds);
  if (cpuBefore === undefined) return;
  service.cpuMs += service.cpuTime() - cpuBefore;
  service.measured += load.answered;
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function checked(findings) {
  const errors = [];
  let missing = 0;
  for (const { severity, rule, message } of findings) {
    if (severity === 'error') errors.push(`${rule}: ${message}`);
    if (rule === 'counter-gap') missing++;
  }
  return { errors, gaps: missing };
}

function surveyOvni(directory) {
  const path = join(directory, 'ovni');
  const trace = ovni.readTraceDirectory(path);
  let records = 0;
  let bytes = 0;
  for (const { path: stream, version } of trace.streams) {
    bytes += statSync(stream).size;
    // The reader reuses one object for all events; only their number matters here.
    for (const event of ovni.readStream(stream, { version })) if (event.size > 0) records++;
  }
  return { threads: trace.streams.length, records, bytes, ...checked(ovni.checkTrace(path)) };
}

function surveyHeph(directory) {
  const [name] = readdirSync(join(directory, 'heph')).filter((each) => each.endsWith('.heph'));
  const path = join(directory, 'heph', name);
  let records = 0;
  let answered = 0;
  for (const packet of heph.readPackets(path)) {
    if (packet.kind !== 'event') continue;
    records++;
    const attributes = new Map(packet.attributes.map(({ name, value }) => [name, value]));
    // Of server requests only.
    if (!attributes.has('url.path')) continue;
    if (attributes.get('error.type') !== 'aborted') answered++;
  }
  return { records, answered, bytes: statSync(path).size, ...checked(heph.checkTrace(path)) };
}

function traceDirectory() {
  const moment = `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}Z`;
  return join('traces', `demo-${moment}-${process.pid}`);
}

async function demonstrate() {
  const directory = traceDirectory();
  const plain = new DemoService(undefined);
  const traced = new DemoService(directory);
  process.on('exit', () => {
    plain.child.kill('SIGKILL');
    traced.child.kill('SIGKILL');
  });
  await Promise.all([plain.listening(), traced.listening()]);

  process.stderr.write(
    `The example service, plain and traced, under load in turns: ${2 * seconds + OTHER_SECONDS} s\n`,
  );
  progress('a little of everything ...');
  for (const service of [plain, traced]) {
    service.answered += (await clientLoad(service.origin, 1, MIXED)).answered;
  }
  progress('warming up ...');
  for (const service of [plain, traced]) await slice(service, false);
  for (let second = 1; second <= seconds; second++) {
    // In turns, so that what else the machine does falls on both.
    const turn = second % 2 === 0 ? [traced, plain] : [plain, traced];
    for (const service of turn) {
      const name = service === plain ? 'plain' : 'traced';
      progress(`load on the ${name} service, second ${second} of ${seconds} ...`);
      await slice(service, true);
    }
  }
  progress('ending both by SIGTERM ...');
  const endedBySignal = await traced.stop();
  await plain.stop();
  progress('reading the traces ...');
  const ovniTrace = surveyOvni(directory);
  const hephTrace = surveyHeph(directory);
  progress('');
  return { directory, plain, traced, endedBySignal, ovniTrace, hephTrace };
}

function summary({ directory, plain, traced, endedBySignal, ovniTrace, hephTrace }) {
  const rate = { plain: median(plain.rates), traced: median(traced.rates) };
  const cpu = (service) =>
    service.measured === 0 ? undefined : (1000 * service.cpuMs) / service.measured;
  const cpuUs = { plain: cpu(plain), traced: cpu(traced) };
  const records = ovniTrace.records + hephTrace.records;
  const perRequest = records / traced.answered;
  const costUs = cpuUs.plain === undefined ? undefined : cpuUs.traced - cpuUs.plain;
  // A span for every answer that a client has received; more is right, for what the clients cut off
  // at the end of a slice was answered too.
  const lost = Math.max(0, traced.answered - hephTrace.answered) + hephTrace.gaps;
  const errors = [...ovniTrace.errors, ...hephTrace.errors];
  if (!endedBySignal) errors.push('the traced service did not end by SIGTERM');
  return {
    directory: relative('.', directory),
    load: { tool: hasWrk ? 'wrk' : 'node:http', connections, seconds },
    requests: { plain: plain.answered, traced: traced.answered },
    requestsPerSecond: rate,
    throughputKept: rate.traced / rate.plain,
    cpuMicrosecondsPerRequest: cpuUs,
    cost: {
      recordsPerRequest: perRequest,
      microsecondsPerRequest: costUs,
      nanosecondsPerRecord: costUs === undefined ? undefined : (1000 * costUs) / perRequest,
      bytesPerRequest: (ovniTrace.bytes + hephTrace.bytes) / traced.answered,
    },
    ovni: { threads: ovniTrace.threads, events: ovniTrace.records, bytes: ovniTrace.bytes },
    heph: { spans: hephTrace.records, bytes: hephTrace.bytes },
    lost,
    errors,
  };
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

function table(rows) {
  const widths = rows[0].map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]),
        )
        .join('   ')
        .trimEnd(),
    )
    .join('\n');
}

function megabytes(bytes) {
  return `${tenths.format(bytes / 1e6)} MB`;
}

function report(result) {
  const { requests, requestsPerSecond: rate, cpuMicrosecondsPerRequest: cpu, cost } = result;
  const compared = [
    ['', 'plain', 'traced', ''],
    ['requests answered', whole.format(requests.plain), whole.format(requests.traced), ''],
    [
      'requests a second (median)',
      whole.format(rate.plain),
      whole.format(rate.traced),
      `${tenths.format(100 * result.throughputKept)} % kept`,
    ],
  ];
  if (cpu.plain !== undefined) {
    const sign = cost.microsecondsPerRequest < 0 ? '' : '+';
    compared.push([
      'CPU time a request',
      `${tenths.format(cpu.plain)} µs`,
      `${tenths.format(cpu.traced)} µs`,
      `${sign}${tenths.format(cost.microsecondsPerRequest)} µs`,
    ]);
  }
  const verdict = result.errors.length === 0 ? 'acceptable' : 'NOT ACCEPTABLE';
  const recorded = [
    ['', 'ovni', 'Heph'],
    [
      'recorded',
      `${whole.format(result.ovni.events)} events`,
      `${whole.format(result.heph.spans)} spans`,
    ],
    ['size', megabytes(result.ovni.bytes), megabytes(result.heph.bytes)],
  ];
  const perRecord =
    cost.nanosecondsPerRecord === undefined || cost.nanosecondsPerRecord <= 0
      ? ''
      : `: ${whole.format(cost.nanosecondsPerRecord)} ns of CPU time for each record, what Node does to report it included`;
  return `
${table(compared)}

${table(recorded)}

A request leaves ${tenths.format(cost.recordsPerRequest)} records, ${whole.format(cost.bytesPerRequest)} bytes in all${perRecord}.
Spans lost: ${result.lost}. tracewright check: ${verdict}.
${result.errors.map((error) => `  ${error}\n`).join('')}Load by ${result.load.tool}, ${connections} connections, ${seconds} s on each in turns of 1 s.

Look at the traces:
  npx tracewright report ${result.directory}
  npx tracewright view ${result.directory}
  npx tracewright check ${result.directory}
  npx tracewright convert --to perfetto ${result.directory} trace.pftrace    # open in ui.perfetto.dev
`;
}

try {
  const result = summary(await demonstrate());
  process.stdout.write(given.json ? `${JSON.stringify(result, null, 2)}\n` : report(result));
  process.exitCode = result.lost === 0 && result.errors.length === 0 ? 0 : 1;
} catch (error) {
  progress('');
  process.stderr.write(`demo: ${error.stack}\n`);
  process.exitCode = 1;
}
