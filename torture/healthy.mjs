// Starts services that nothing is wrong with, asks each for half of what it can answer, at random moments, and reads the
// report: whatever it finds is wrong. Needs PostgreSQL and Redis; npm installs the packages into build/libraries-service.
//
//   node torture/healthy.mjs [--runs N] [--at-once N] [--seconds N] [--seed N]

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as ask } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../bench/libraries-packages.mjs';
import { readOptions } from './options.mjs';
import { Random } from './random.mjs';

const options = readOptions(
  `usage: npm run torture:healthy -- [--runs N] [--at-once N] [--seconds N] [--seed N]

  --runs N     how many services: 100 unless set
  --at-once N  how many of them run side by side: 1 unless set
  --seconds N  how long each is asked: 45 unless set; findings need 30
  --seed N     the moments of requests; default: chosen by the time
`,
  {
    runs: { type: 'string', default: '100' },
    'at-once': { type: 'string', default: '1' },
    seconds: { type: 'string', default: '45' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
  },
);
const CHILD = fileURLToPath(new URL('healthy-child.mjs', import.meta.url));
const HOOK = fileURLToPath(new URL('../dist/node/register.js', import.meta.url));
const COMMAND = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
/** Clients that ask again at once, and ms in which they find out what the service can do. */
const CLIENTS = 8;
const TRIAL_MS = 4000;
/** Of what it can do. */
const SHARE = 0.5;

const packages = installPackages();
const random = new Random(Number(options.seed));

class Service {
  static async start(directory) {
    const child = spawn(process.execPath, ['--require', HOOK, CHILD, packages], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, TRACEWRIGHT_DIR: directory, TRACEWRIGHT_QUIET: '1' },
    });
    const [port] = await once(child, 'message');
    return new Service(child, port);
  }

  constructor(child, port) {
    this.child = child;
    this.port = port;
    this.agent = new Agent({ keepAlive: true });
  }

  /** One of its requests. Resolves to whether it was answered as it must be. */
  ask(which) {
    const isOrder = which < 20;
    const path =
      which < 60 ? (isOrder ? '/orders' : '/cart') : `/products/${random.integer(0, 1e6)}`;
    return new Promise((resolve) => {
      const asked = ask(
        {
          ...{ port: this.port, agent: this.agent, path, method: isOrder ? 'POST' : 'GET' },
          headers: isOrder ? { 'content-type': 'application/json' } : {},
        },
        (response) => {
          response.resume().on('end', () => resolve(response.statusCode < 500));
        },
      );
      asked.on('error', () => resolve(false));
      asked.end(isOrder ? '{"pieces":3}' : undefined);
    });
  }

  /** Requests a second that it can answer. */
  async capacity() {
    let answered = 0;
    const until = performance.now() + TRIAL_MS;
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (performance.now() < until) {
          await this.ask(random.integer(0, 99));
          answered += 1;
        }
      }),
    );
    return (1000 * answered) / TRIAL_MS;
  }

  /** Asks at random moments, whether it has answered or not. @returns how many failed. */
  async load(rate, seconds) {
    const begin = performance.now();
    const asked = [];
    for (let at = 0; at < seconds; at += -Math.log(1 - random.next()) / rate) {
      const wait = begin + 1000 * at - performance.now();
      if (wait > 1) await pause(wait);
      asked.push(this.ask(random.integer(0, 99)));
    }
    const answers = await Promise.all(asked);
    return answers.filter((isGood) => !isGood).length;
  }

  async end() {
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
    this.agent.destroy();
  }
}

/** @returns the sentences of what the report found. */
async function findings() {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-healthy-'));
  try {
    const service = await Service.start(join(directory, 'run'));
    const capacity = await service.capacity();
    const failed = await service.load(capacity * SHARE, Number(options.seconds));
    await service.end();
    const report = execFileSync(process.execPath, [COMMAND, 'report', '--json', directory], {
      maxBuffer: 1 << 28,
    });
    const found = JSON.parse(report).findings.map(({ rule, text }) => `${rule}: ${text}`);
    return { rate: Math.round(capacity * SHARE), failed, found };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const runs = Number(options.runs);
let begun = 0;
let wrong = 0;
while (begun < runs) {
  // Side by side they find out what they can do at the same time, and then have half of that.
  const batch = Math.min(Number(options['at-once']), runs - begun);
  const answers = await Promise.all(Array.from({ length: batch }, findings));
  for (const { rate, failed, found } of answers) {
    if (found.length > 0) wrong++;
    const load = loadavg()[0].toFixed(1);
    console.log(`${++begun} of ${runs}: ${rate} requests/s, ${failed} failed, load ${load}`);
    for (const sentence of found) console.log(`  ${sentence}`);
  }
}
console.log(`${runs} runs, ${wrong} with findings`);
if (wrong > 0) process.exitCode = 1;
