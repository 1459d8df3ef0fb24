// What an event costs that is dropped, because its target fails and the ring is full, compared with one
// that is written.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Comm, Datatype, openRank } from 'tracewright/dumpi';
import { openTrace } from 'tracewright/heph';
import { openKernelEvents, openReferences } from 'tracewright/laplace';
import * as ovni from 'tracewright/ovni';
import { main } from './benchmark.mjs';
import { median } from './median.mjs';

// Every event that is dropped here is dropped on purpose.
process.env.TRACEWRIGHT_QUIET = '1';

const RING_BYTES = 1 << 20;
const BATCH = 2000;
const GOAL = 3;
/** Rounds before those that count: V8 compiles the calls. */
const WARM_UP = 100;

/** Files of this process take no byte more. */
function limitFiles() {
  const limit = ['--pid', `${process.pid}`, '--fsize=0:unlimited'];
  return spawnSync('prlimit', limit).status === 0;
}

/**
 * @param {string} directory
 * @returns {{
 *   name: string,
 *   run: (count: number) => void,
 *   settle: () => unknown,
 *   dropped: () => number,
 *   events?: number,
 * }[]} `events`: of a call; default 1.
 */
function openAll(directory) {
  const quiet = { ringBytes: RING_BYTES, onFault: () => undefined };
  ovni.procInit(1, 'bench', process.pid, { traceDir: join(directory, 'ovni'), ...quiet });
  ovni.threadInit();
  const bare = ovni.event('OB.');
  ovni.markType(1, 'stack', { stack: true });
  const ovniKind = (/** @type {string} */ name, /** @type {() => void} */ call) => ({
    name,
    run: (/** @type {number} */ count) => {
      for (let i = 0; i < count; i++) call();
    },
    settle: () => ovni.flush(),
    dropped: () => ovni.procStats().droppedEvents,
  });

  const trace = openTrace(join(directory, 'heph.heph'), quiet);
  const stream = trace.stream();
  const span = stream.span('request', { method: 'string', status: 'u64' });
  const heph = { settle: () => trace.flush(), dropped: () => trace.stats().dropped.ringFull };

  const rank = openRank({ directory, fileRoot: 'bench', rank: 0, size: 2, ...quiet });
  const datatype = Datatype.BYTE;
  const comm = Comm.WORLD;

  const kernel = openKernelEvents(join(directory, 'kernel'), quiet);
  const references = openReferences(join(directory, 'references'), quiet);
  return [
    ovniKind('ovni, event()', () => {
      bare();
    }),
    ovniKind('ovni, emit()', () => {
      ovni.emit('OB.');
    }),
    {
      ...ovniKind('ovni, markPush() and markPop()', () => {
        ovni.markPush(1, 1);
        ovni.markPop(1, 1);
      }),
      events: 2,
    },
    {
      name: 'Heph, compiled span',
      run: (count) => {
        for (let i = 0; i < count; i++) span.finish(stream.startTrace(), 'GET', 200);
      },
      ...heph,
    },
    {
      name: 'Heph, finishTrace() with an object',
      run: (count) => {
        for (let i = 0; i < count; i++) {
          stream.finishTrace(stream.startTrace(), 'request', { method: 'GET', status: i });
        }
      },
      ...heph,
    },
    {
      name: 'DUMPI, enter() and log()',
      run: (count) => {
        for (let i = 0; i < count; i++) {
          const timing = rank.enter();
          rank.log('MPI_Send', { count: i, datatype, dest: 1, tag: 7, comm }, timing);
        }
      },
      settle: () => rank.flush(),
      dropped: () => rank.dropped,
    },
    {
      name: 'Laplace, kernel event',
      run: (count) => {
        for (let i = 0; i < count; i++) kernel.schedule(undefined, i);
      },
      settle: () => kernel.flush(),
      dropped: () => kernel.dropped,
    },
    {
      name: 'Laplace, load()',
      run: (count) => {
        for (let i = 0; i < count; i++) references.load(undefined, 4, 1, i);
      },
      settle: () => references.flush(),
      dropped: () => references.dropped,
    },
  ];
}

/** @param {ReturnType<typeof openAll>[0]} kind */
async function measure({ name, run, settle }, rounds, waits) {
  const times = [];
  for (let i = 0; i < rounds; i++) {
    const from = performance.now();
    run(BATCH);
    times.push(((performance.now() - from) * 1e6) / BATCH);
    if (waits) await settle();
  }
  return { name, time: median(times.slice(WARM_UP)) };
}

/**
 * @param {{ quick: boolean }} options
 * @returns {Promise<import('./benchmark.mjs').Result>}
 */
async function measureDrops({ quick }) {
  const rounds = WARM_UP + (quick ? 100 : 1000);
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  try {
    const kinds = openAll(directory);
    const written = [];
    for (const kind of kinds) written.push(await measure(kind, rounds, true));
    if (!limitFiles()) throw new Error('prlimit is needed to let the targets fail');
    const rows = [];
    for (const [i, kind] of kinds.entries()) {
      // Until the ring is full, and the drain thread has found out that it cannot write.
      for (const before = kind.dropped(); kind.dropped() - before < 10 * BATCH;) {
        kind.run(BATCH);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      const before = kind.dropped();
      const dropped = await measure(kind, rounds, false);
      const count = kind.dropped() - before;
      const all = rounds * BATCH * (kind.events ?? 1);
      if (count !== all) throw new Error(`${kind.name}: ${count} of ${all} events were dropped`);
      const { time } = written[i];
      rows.push([kind.name, time, dropped.time, dropped.time / time]);
    }
    return {
      tables: [
        {
          title: 'Nanoseconds a call, median of batches',
          columns: ['call', 'written', 'dropped', 'ratio'],
          rows,
        },
      ],
      goals: rows.map(([name, , , ratio]) => ({
        goal: `${name}: dropped at most ${GOAL} times as long as written`,
        figure: ratio,
        met: ratio <= GOAL,
      })),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main(import.meta.url, {
  title: 'Events that are dropped',
  measure: measureDrops,
});
