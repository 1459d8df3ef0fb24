// A million events of every kind from each of four threads at once, read back and counted by MCV.

import { mkdtempSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import {
  addCpu,
  checkTrace,
  emit,
  emitJumbo,
  event,
  events as declared,
  markLabel,
  markPop,
  markPush,
  markSet,
  markType,
  models,
  procFini,
  procInit,
  readStream,
  readTraceDirectory,
  threadFree,
  threadInit,
  threadRequire,
} from 'tracewright/ovni';
import { main } from './benchmark.mjs';

const WORKERS = 3;
const STACK_MARK = 7;
const SINGLE_MARK = 8;
/** Task types, tasks and labels of one thread lie in a range of numbers of their own. */
const IDS_A_THREAD = 100_000_000;
/** Labels become colours in the emulator, where a few dozen are what it is made for. */
const LABELS = 32;

/** Events that open and close something, and need no state but a running thread. */
const PAIRS = [
  ['VAr', 'VAR'],
  ['VAs', 'VAS'],
  ['VAp', 'VAP'],
  ['VMa', 'VMA'],
  ['VU[', 'VU]'],
  ['VSh', 'VSf'],
  ['6W[', '6W]'],
  ['6C[', '6C]'],
  ['6U[', '6U]'],
  ['6Ma', '6MA'],
  ['6Dr', '6DR'],
  ['6Bb', '6BB'],
  ['MUi', 'MUI'],
  ['MS[', 'MS]'],
  ['MR[', 'MR]'],
  ['MAr', 'MAR'],
  ['DC[', 'DC]'],
  ['DT[', 'DT]'],
  ['TCi', 'TCI'],
  ['TRc', 'TRC'],
  ['KCO', 'KCI'],
];
const MODELS = /** @type {const} */ (['nosv', 'nanos6', 'mpi', 'nodes', 'tampi', 'kernel']);

/**
 * Emits `total` events, no fewer and no more, in an order that the emulator accepts.
 *
 * @param {number} thread 0 is the main thread.
 * @param {number} total
 * @returns {Record<string, number>} how many of each MCV.
 */
function emitMixture(thread, total) {
  /** @type {Record<string, number>} */
  const counts = {};
  let emitted = 0;
  /** @param {string} mcv */
  const count = (mcv) => {
    counts[mcv] = (counts[mcv] ?? 0) + 1;
    emitted += 1;
  };
  for (const model of MODELS) threadRequire(model, models[model].version);
  markType(STACK_MARK, 'depth', { stack: true });
  markType(SINGLE_MARK, 'phase');
  for (let value = 1; value <= 8; value++) {
    markLabel(STACK_MARK, value, `depth ${value}`);
    markLabel(SINGLE_MARK, value, `phase ${value}`);
  }

  const running = event('OHx');
  const ended = event('OHe');
  const pairs = PAIRS.map(([opening, closing]) => {
    for (const mcv of [opening, closing]) {
      if (!Object.hasOwn(declared, mcv)) throw new Error(`${mcv} is not declared`);
    }
    return { opening, closing, open: event(opening), close: event(closing) };
  });
  const create = event('VTc');
  const execute = event('VTx');
  const end = event('VTe');
  const nanos6Create = event('6Tc');
  const nanos6Execute = event('6Tx');
  const nanos6End = event('6Te');
  const payloads = [0, ...Array.from({ length: 15 }, (_, i) => i + 2)].map((bytes) =>
    Uint8Array.from({ length: bytes }, (_, i) => 16 * bytes + i),
  );
  const labels = Array.from({ length: LABELS }, (_, i) => Buffer.from(`work ${i}\0`));

  running(-1, -1, thread);
  count('OHx');
  let id = thread * IDS_A_THREAD + 1;
  // The last event is OHe; the longest step below is 16 + 2 events.
  for (let step = 0; total - emitted > 20; step++) {
    const { opening, closing, open, close } = pairs[step % pairs.length];
    open();
    count(opening);
    if (step % 3 === 0) {
      const value = (step % 8) + 1;
      markPush(STACK_MARK, value);
      count('OM[');
      markSet(SINGLE_MARK, value);
      count('OM=');
      markPop(STACK_MARK, value);
      count('OM]');
    }
    close();
    count(closing);
    if (step % 4 === 0) {
      emit('OB.', payloads[(step / 4) % payloads.length]);
      count('OB.');
    }
    if (step % 500 === 0) {
      const mcv = step % 1000 === 0 ? 'VYc' : '6Yc';
      const label = labels[(step / 500) % LABELS];
      const data = Buffer.alloc(4 + label.length);
      const typeId = thread * IDS_A_THREAD + step + 1;
      new Uint32Array(data.buffer, data.byteOffset, 1)[0] = typeId;
      data.set(label, 4);
      emitJumbo(mcv, data);
      count(mcv);
      id += 1;
      if (mcv === 'VYc') {
        create(id, typeId);
        // Body 0: the task is not a parallel one.
        execute(id, 0);
        end(id, 0);
        count('VTc');
        count('VTx');
        count('VTe');
      } else {
        nanos6Create(id, typeId);
        nanos6Execute(id);
        nanos6End(id);
        count('6Tc');
        count('6Tx');
        count('6Te');
      }
    }
  }
  while (total - emitted > 1) {
    emit('OB.', payloads[emitted % payloads.length]);
    count('OB.');
  }
  ended();
  count('OHe');
  return counts;
}

/**
 * Counts the events of a stream by MCV, and the OB. among them by payload size.
 *
 * @param {string} path
 * @param {1 | 3} version
 */
function countStream(path, version) {
  /** @type {Record<string, number>} */
  const counts = {};
  const bySize = new Set();
  let backwards = 0;
  let last = 0n;
  for (const each of readStream(path, { version })) {
    const { mcv, clock } = each;
    counts[mcv] = (counts[mcv] ?? 0) + 1;
    if (mcv === 'OB.') {
      bySize.add(each.payloadBytes);
      each.payload.forEach((byte, i) => {
        if (byte !== ((16 * each.payloadBytes + i) & 0xff)) {
          throw new Error(`${path}: payload of ${each.payloadBytes} bytes at ${each.offset}`);
        }
      });
    }
    if (clock < last) backwards += 1;
    last = clock;
  }
  return { counts, sizes: bySize.size, backwards };
}

/**
 * @param {1 | 3} version
 * @param {number} total
 * @param {string} traceDir
 */
async function writeTrace(version, total, traceDir) {
  procInit(1, 'bench', process.pid, { traceDir, version });
  threadInit(1);
  addCpu(0, 0);
  const workers = Array.from(
    { length: WORKERS },
    (_, i) => new Worker(fileURLToPath(import.meta.url), { workerData: { thread: i + 1, total } }),
  );
  /** @param {Worker} worker */
  const answer = (worker) =>
    new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
  await Promise.all(workers.map(answer));
  const answers = Promise.all(workers.map(answer));
  const from = performance.now();
  for (const worker of workers) worker.postMessage('go');
  const own = emitMixture(0, total);
  const ownMs = performance.now() - from;
  const others = await answers;
  const allMs = performance.now() - from;
  threadFree();
  procFini();
  return { emitted: [own, ...others], ownMs, allMs };
}

/** @param {{ quick: boolean, keep?: string }} options */
async function measure({ quick, keep }) {
  const total = quick ? 50_000 : 1_000_000;
  const base =
    keep === undefined ? mkdtempSync(join(tmpdir(), 'tracewright-bench-')) : resolve(keep);
  mkdirSync(base, { recursive: true });
  const rows = [];
  const totals = [];
  /** By MCV: emitted and read of version 1, then of version 3. @type {Map<string, number[]>} */
  const kinds = new Map();
  const goals = [];
  try {
    for (const version of /** @type {const} */ ([1, 3])) {
      const traceDir = join(base, `version-${version}`);
      const { emitted, ownMs, allMs } = await writeTrace(version, total, traceDir);
      const { streams } = readTraceDirectory(traceDir);
      const column = version === 1 ? 0 : 2;
      let differences = 0;
      const from = performance.now();
      for (const [thread, counts] of emitted.entries()) {
        const { path } = streams.find(({ tid }) => tid === thread + 1);
        const read = countStream(path, version);
        // What a full ring adds are the thread's own words, and come in pairs.
        const flushes = read.counts['OF['] ?? 0;
        const readInAll = Object.values(read.counts).reduce((sum, each) => sum + each, 0);
        const wrong = [...new Set([...Object.keys(counts), ...Object.keys(read.counts)])].filter(
          (mcv) => !mcv.startsWith('OF') && counts[mcv] !== read.counts[mcv],
        );
        differences += wrong.length + read.backwards + (flushes - (read.counts['OF]'] ?? 0));
        if (read.sizes !== 16) differences += 1;
        for (const [mcv, count] of Object.entries(counts)) {
          const figures = kinds.get(mcv) ?? [0, 0, 0, 0];
          figures[column] += count;
          figures[column + 1] += read.counts[mcv] ?? 0;
          kinds.set(mcv, figures);
        }
        rows.push([
          version,
          thread === 0 ? 'main' : `worker ${thread}`,
          Object.values(counts).reduce((sum, each) => sum + each, 0),
          readInAll - 2 * flushes,
          flushes,
          Object.keys(counts).length,
          read.sizes,
          read.backwards,
          wrong.length,
          statSync(path).size,
        ]);
      }
      const readMs = performance.now() - from;
      const findings = [...checkTrace(traceDir)];
      goals.push(
        {
          goal: `version ${version}: every event read back, in order, as emitted`,
          figure: differences,
          met: differences === 0,
        },
        {
          goal: `version ${version}: findings of our check`,
          figure: findings.length,
          met: findings.length === 0,
        },
      );
      totals.push([version, (WORKERS + 1) * total, ownMs, allMs, readMs]);
    }
  } finally {
    if (keep === undefined) rmSync(base, { recursive: true, force: true });
  }
  return {
    tables: [
      {
        title: `${total.toLocaleString('en-US')} events from each of ${WORKERS + 1} threads at once, read back`,
        columns: [
          'version',
          'thread',
          'emitted',
          'read',
          'OF[ OF]',
          'MCVs',
          'OB. sizes',
          'backwards',
          'differing MCVs',
          'bytes',
        ],
        rows,
      },
      {
        title: 'All threads together',
        columns: ['version', 'events', 'main ms', 'all ms', 'reading ms'],
        rows: totals,
      },
      {
        title: 'By MCV',
        detail: true,
        columns: ['MCV', 'emitted, version 1', 'read', 'emitted, version 3', 'read'],
        rows: [...kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([mcv, of]) => [mcv, ...of]),
      },
    ],
    goals,
    notes: [
      'Emitted by all threads at once; OF[ OF] are the pairs that a full ring added.',
      ...(keep === undefined ? [] : [`The traces are kept in ${base}.`]),
    ],
  };
}

if (isMainThread) {
  await main(import.meta.url, {
    title: 'ovni: everything that is emitted is read back',
    options: { keep: { type: 'string' } },
    help: '  --keep DIR  leave the traces in DIR/version-1 and DIR/version-3',
    measure,
  });
} else {
  const { thread, total } = workerData;
  threadInit(thread + 1);
  parentPort?.once('message', () => {
    const counts = emitMixture(thread, total);
    threadFree();
    parentPort?.postMessage(counts);
    parentPort?.close();
  });
  parentPort?.postMessage('ready');
}
