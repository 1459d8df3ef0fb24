// Spans from disk to a socket of this machine: `tracewright ship --once`, as a whole process on one core. A receiver
// takes the bytes and decodes none; nats-server stores them. Next to it OpenTelemetry's exporter sends the same spans.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { median } from './median.mjs';

const command = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const GOALS = { plain: 400_000, gzip: 200_000, slow: 200_000, tls: 200_000, nats: 300_000 };
const NATS_SERVER = '/usr/sbin/nats-server';

const RECEIVER = `
  import { createServer } from 'node:http';
  import { createServer as createTlsServer } from 'node:https';
  import { readFileSync } from 'node:fs';
  const answer = (request, response) => {
    request.resume().on('end', () => setTimeout(() => response.end(), Number(process.argv[1])));
  };
  const [key, cert] = process.argv.slice(2).map((path) => readFileSync(path));
  const server = key === undefined ? createServer(answer) : createTlsServer({ key, cert }, answer);
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
  process.stdin.resume().on('end', () => process.exit());`;

const exporter = fileURLToPath(new URL('ship-opentelemetry.mjs', import.meta.url));

const RECORDER = `
  import { configure, flush, shutdown, startSpan } from 'tracewright/spans';
  configure({ target: process.argv[1], service: 'bench' });
  const count = Number(process.argv[2]);
  for (let n = 0; n < count; n++) {
    startSpan('GET /orders/:id', { 'http.request.method': 'GET', n }).end();
  }
  await flush();
  await shutdown();`;

const nodeOf = (code, ...args) => [process.execPath, ['--input-type=module', '-e', code, ...args]];

/** Where spans go for a while: `to`, `env` for those who send, and `end`. */
async function receiver({ delay = 0, pem }) {
  const keys = pem === undefined ? [] : [`${pem}.key`, `${pem}.pem`];
  const code = nodeOf(RECEIVER, String(delay), ...keys);
  const child = spawn(...code, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  return {
    to: `${pem === undefined ? 'http' : 'https'}://127.0.0.1:${String(port).trim()}`,
    env: pem === undefined ? {} : { OTEL_EXPORTER_OTLP_CERTIFICATE: `${pem}.pem` },
    async end() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

/** A server of NATS with a stream on the disk. */
async function natsServer() {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-nats-'));
  const args = ['-a', '127.0.0.1', '-p', '-1', '-js', '-sd', directory];
  const child = spawn(NATS_SERVER, [...args, '--ports_file_dir', directory], { stdio: 'ignore' });
  let file;
  while (file === undefined) {
    await sleep(50);
    file = readdirSync(directory).find((name) => name.endsWith('.ports'));
  }
  const { nats } = JSON.parse(readFileSync(join(directory, file), 'utf8'));
  return {
    to: `${nats[0]}/bench`,
    env: {},
    async end() {
      child.kill();
      await once(child, 'exit');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A certificate that signs itself; undefined: there is no openssl. */
function certificate(directory) {
  const pem = join(directory, 'server');
  const subject = ['-subj', '/CN=bench', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', `${pem}.key`, '-out', `${pem}.pem`];
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject];
  const { status } = spawnSync('openssl', [...args, ...files], { stdio: 'ignore' });
  return status === 0 ? pem : undefined;
}

/** Runs a program on one core, with its threads, and counts the CPU seconds that it takes. */
const ON_ONE_CORE = 'TIMEFORMAT="%R %U %S"; time taskset -c 0 "$0" "$@"';

/** One run of the command: its seconds, start included, and its CPU seconds. */
async function shipped(trace, { args = [], open = receiver, delay, pem }) {
  const { to, env, end } = await open({ delay, pem });
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-ship-'));
  try {
    const given = [command, 'ship', trace, '--to', to, '--once'];
    const all = [...given, '--checkpoint', join(directory, 'checkpoint'), ...args];
    const { status, stderr } = spawnSync('bash', ['-c', ON_ONE_CORE, process.execPath, ...all], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    });
    if (status !== 0) throw new Error(`ship ended with ${status}: ${stderr}`);
    const [seconds, user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number);
    return { seconds, cpu: user + system };
  } finally {
    rmSync(directory, { recursive: true, force: true });
    await end();
  }
}

/** CPU seconds of OpenTelemetry's exporter for a million spans. */
async function exported(count, compression) {
  const { to, end } = await receiver({});
  const args = [exporter, to, String(count), compression];
  const { status, stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await end();
  if (status !== 0) throw new Error('the exporter failed');
  return Number(stdout);
}

async function measure({ quick }) {
  const count = quick ? 50_000 : 1_000_000;
  const rounds = quick ? 1 : 3;
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-ship-'));
  const pem = certificate(directory);
  const cases = [
    { name: 'plain', args: ['--compression', 'none'], goal: GOALS.plain },
    { name: 'gzip', goal: GOALS.gzip },
    {
      name: 'gzip, answers after 100 ms',
      args: ['--in-flight', '16'],
      delay: 100,
      goal: GOALS.slow,
    },
    ...(pem === undefined ? [] : [{ name: 'gzip over TLS', pem, goal: GOALS.tls }]),
    ...(existsSync(NATS_SERVER)
      ? [
          {
            name: 'JetStream',
            args: ['--create-stream', '1h'],
            open: natsServer,
            goal: GOALS.nats,
          },
        ]
      : []),
  ];
  const runs = new Map(cases.map(({ name }) => [name, []]));
  const starts = [];
  try {
    const trace = join(directory, 'spans.heph');
    const { status } = spawnSync(...nodeOf(RECORDER, trace, String(count)), { stdio: 'inherit' });
    if (status !== 0) throw new Error('the spans were not recorded');
    for (let round = 0; round < rounds; round++) {
      starts.push((await shipped(join(directory, 'none'), {})).cpu);
      for (const each of cases) runs.get(each.name).push(await shipped(trace, each));
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  const start = median(starts);
  const rows = cases.map(({ name, goal }) => {
    const rate = count / median(runs.get(name).map(({ seconds }) => seconds));
    const cpu = median(runs.get(name).map((run) => run.cpu)) - start;
    return [name, Math.round(rate), goal, (cpu * 1e6) / count];
  });
  const others = [];
  for (const compression of ['none', 'gzip']) {
    others.push([compression, await exported(Math.min(count, 500_000), compression)]);
  }
  return {
    tables: [
      {
        title: `${count} spans of two attributes, from a file to a local socket, start included`,
        columns: ['requests', 'spans/s', 'goal', 'CPU s a million, start left out'],
        rows,
      },
      {
        title: "OpenTelemetry's exporter for spans in memory, in batches of 512",
        columns: ['compression', 'CPU s a million'],
        rows: others,
      },
    ],
    goals: rows.map(([name, rate, goal]) => ({
      goal: `spans/s, ${name}: at least ${goal}`,
      figure: rate,
      met: rate >= goal,
    })),
    notes: [
      'Spans a second are those of a whole process on one core, whose start takes some 0.3 s.',
    ],
  };
}

await main(import.meta.url, { title: 'Shipping spans', measure });
