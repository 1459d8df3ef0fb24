// Runs one recorded operation and says which files of src it entered: the program of count-paths.mjs.
//
//   node -r CODE/node/register.js scripts/path-operation.mjs OPERATION CODE DIRECTORY

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Session } from 'node:inspector';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

const [, , operation = '', code = '', directory = ''] = process.argv;
const load = createRequire(join(code, 'package.json'));
const SETTLE_MS = 100;
const REPETITIONS = 100;

/** What each operation does after its program has made itself ready. @type {Record<string, () => Promise<() => unknown>>} */
const OPERATIONS = {
  async request() {
    const server = createServer((_, response) => response.end('ok'));
    // On a busy machine the connection may wait for longer than the server keeps it.
    server.keepAliveTimeout = 0;
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    // Not by node:http, which is recorded, too.
    const socket = connect(port, '127.0.0.1');
    return async () => {
      socket.write('GET /orders/7 HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await once(socket, 'data');
    };
  },
  async query() {
    const packages = join(fileURLToPath(import.meta.url), '../../build/libraries-service');
    const { Client } = createRequire(join(packages, 'package.json'))('pg');
    const client = new Client({
      host: process.env['PGHOST'] ?? '127.0.0.1',
      user: process.env['PGUSER'] ?? 'postgres',
      database: process.env['PGDATABASE'] ?? 'postgres',
      password: process.env['PGPASSWORD'] ?? 'secret',
    });
    await client.connect();
    return () => client.query('SELECT 1 AS one');
  },
  async ovni() {
    const { emit, procInit, threadInit } = load('./ovni/index.js');
    procInit(1, 'paths', process.pid, { traceDir: join(directory, 'ovni') });
    threadInit();
    return () => emit('OAr');
  },
  async dumpi() {
    const { Comm, Datatype, openRank } = load('./dumpi/index.js');
    const rank = openRank({ directory, rank: 0, size: 2 });
    const message = { count: 4, datatype: Datatype.INT, tag: 7, comm: Comm.WORLD, dest: 1 };
    return () => rank.log('MPI_Send', message);
  },
};

/** @typedef {{ url: string, offset: number }} Entered A function of src, by where it begins. */

/** @param {() => unknown} once @returns {Promise<Entered[]>} the functions that an operation runs. */
async function coveredBy(once) {
  const session = new Session();
  session.connect();
  /** @param {string} method @param {object} [parameters] @returns {Promise<any>} */
  const post = (method, parameters) =>
    new Promise((resolve, reject) => {
      session.post(method, parameters, (error, result) => {
        if (error === null) resolve(result);
        else reject(new Error(error.message));
      });
    });
  await post('Profiler.enable');
  await post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await once();
  await sleep(SETTLE_MS);
  const { result } = await post('Profiler.takePreciseCoverage');
  await post('Profiler.stopPreciseCoverage');
  session.disconnect();
  const entered = /** @type {Entered[]} */ ([]);
  for (const { url, functions } of result) {
    if (fileOf(url) === undefined) continue;
    const text = readFileSync(url.startsWith('file:') ? fileURLToPath(url) : url, 'utf8');
    for (const { ranges } of functions) {
      const [{ startOffset: offset, endOffset, count }] = ranges;
      // Not the module itself, nor a getter of the compiler by which others read an export.
      const isGetter = /^\(\) => [\w$.[\]]+$/.test(text.slice(offset, endOffset));
      if (count > 0 && offset > 0 && !isGetter) entered.push({ url, offset });
    }
  }
  return entered;
}

/** @param {string} url @returns {string | undefined} the file's path in src. */
function fileOf(url) {
  const base = pathToFileURL(code + '/').href;
  const path = url.startsWith('/') ? pathToFileURL(url).href : url;
  return path.startsWith(base)
    ? relative(code, fileURLToPath(path)).replace(/\.js$/, '.ts')
    : undefined;
}

// The debugger of this thread, in another one: it stops where a covered function begins, and notes the stack.
const DEBUGGER = `
const { readFileSync } = require('node:fs');
const { Session } = require('node:inspector');
const { fileURLToPath } = require('node:url');
const { parentPort, workerData } = require('node:worker_threads');
const session = new Session();
session.connectToMainThread();
const scripts = new Map();
const urls = new Map();
const stacks = [];
session.on('Debugger.scriptParsed', ({ params: { url, scriptId } }) => {
  scripts.set(url, scriptId);
  urls.set(scriptId, url);
});
session.on('Debugger.paused', ({ params }) => {
  stacks.push(params.callFrames.map(({ location }) => urls.get(location.scriptId) ?? ''));
  session.post('Debugger.resume');
});
session.post('Debugger.enable', () => {
  for (const { url, offset } of workerData) {
    const path = url.startsWith('file:') ? fileURLToPath(url) : url;
    const before = readFileSync(path, 'utf8').slice(0, offset).split('\\n');
    const location = {
      scriptId: scripts.get(url),
      lineNumber: before.length - 1,
      columnNumber: before.at(-1).length,
    };
    session.post('Debugger.setBreakpoint', { location });
  }
  session.post('Runtime.evaluate', { expression: '0' }, () => parentPort.postMessage('ready'));
});
parentPort.on('message', () => parentPort.postMessage(stacks));
`;

/** @param {() => unknown} once @param {Entered[]} functions @returns {Promise<string[][]>} */
async function stacksOf(once, functions) {
  const watch = new Worker(DEBUGGER, { eval: true, workerData: functions, env: {}, execArgv: [] });
  await new Promise((resolve) => watch.once('message', resolve));
  await once();
  await sleep(SETTLE_MS);
  const stacks = new Promise((resolve) => watch.once('message', resolve));
  watch.postMessage('end');
  return /** @type {string[][]} */ (await stacks);
}

const run = await OPERATIONS[operation]();
// What it compiles for the usual case is there after some repetitions.
for (let i = 0; i < REPETITIONS; i++) await run();
await sleep(SETTLE_MS);
const functions = await coveredBy(run);
const stacks = await stacksOf(run, functions);

/** In the order in which they were entered. @type {string[]} */
const files = [];
/** Calls of one file to another that was entered before. @type {Set<string>} */
const turns = new Set();
for (const [own = '', ...callers] of stacks) {
  const file = fileOf(own);
  if (file === undefined) continue;
  const caller = callers.map(fileOf).find((each) => each !== undefined);
  if (!files.includes(file)) files.push(file);
  else if (caller !== undefined && caller !== file && files.indexOf(file) < files.indexOf(caller)) {
    turns.add(`${caller} -> ${file}`);
  }
}
const covered = new Set(functions.map(({ url }) => fileOf(url)));
const unseen = [...covered].filter((file) => file !== undefined && !files.includes(file));
process.stdout.write(JSON.stringify({ files, unseen, turns: [...turns] }));
process.exit();
