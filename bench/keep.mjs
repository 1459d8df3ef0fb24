// What `keep` costs a service and leaves on the disk, beside recording everything and beside sampling at the head: one
// of 100 requests is slow and five times as large, one of 200 fails.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { controlCallgrind, NOT_COUNTED, underCallgrind } from './callgrind.mjs';
import { countServices, SAME_V8, threadsIn, timeServices } from './keep-service.mjs';
import { median } from './median.mjs';

const PROGRAM = fileURLToPath(new URL('keep-program.mjs', import.meta.url));
const REQUESTS_A_DAY = 2000 * 86_400;
const MOST_BYTES = 8;
const EVERYTHING = 'everything';
/** While instructions are counted, a request takes hundreds of milliseconds by itself. */
const SLOWER_MS = 30_000;
const KEEP = `slower:${SLOWER_MS / 1000}s, errors, ratio:0.01`;
const MODES = [
  { name: EVERYTHING, options: {} },
  {
    name: KEEP,
    options: { keep: { slowerThan: SLOWER_MS, errors: true, ratio: 0.01, limit: false } },
  },
  { name: 'one of 100, chosen at the start', options: { sample: 0.01 } },
];

/** Bytes and us of CPU, of all threads, of a request. */
function costOf(directory, options, count) {
  const target = join(directory, 'trace.heph');
  const args = [PROGRAM, target, String(count), JSON.stringify(options)];
  const printed = execFileSync(process.execPath, args, { encoding: 'utf8' });
  rmSync(target);
  return JSON.parse(printed);
}

/** Instructions of a request, of the main thread without the garbage collector, and of the thread that writes. */
async function instructionsOf(directory, options, count) {
  const counts = join(directory, 'counts');
  mkdirSync(counts);
  const target = join(directory, 'trace.heph');
  const [command, ...under] = underCallgrind(counts);
  const args = [...SAME_V8, PROGRAM, target, String(count), JSON.stringify(options)];
  const child = spawn(command, [...under, process.execPath, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const next = async () => {
    const [message] = await Promise.race([once(child, 'message'), ended]);
    if (typeof message !== 'string') throw new Error('the program has ended early');
  };
  const record = async () => {
    child.send('record');
    await next();
  };
  try {
    await next();
    controlCallgrind(child.pid, '--instr=on');
    // Callgrind translates the code again when it begins to count.
    await record();
    controlCallgrind(child.pid, '--zero');
    await record();
    controlCallgrind(child.pid, '--dump');
    child.kill('SIGKILL');
    await ended;
    const { main, drain } = threadsIn(counts, count);
    return main + drain;
  } finally {
    child.kill('SIGKILL');
    rmSync(counts, { recursive: true });
    rmSync(target);
  }
}

async function measure({ quick }) {
  const [rounds, count] = quick ? [1, 8000] : [7, 80_000];
  const [countedRounds, counted] = quick ? [1, 2000] : [5, 20_000];
  const canCount = NOT_COUNTED === undefined;
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  let times;
  const found = MODES.map(({ name }) => ({ name, us: [], bytes: [], instructions: [] }));
  try {
    for (let round = 0; round < rounds; round++) {
      for (const [i, { options }] of MODES.entries()) {
        const { us, bytes } = costOf(directory, options, count);
        found[i].us.push(us);
        found[i].bytes.push(bytes);
      }
    }
    // A busy machine changes no instructions: whatever takes time is over when they are counted.
    times = await timeServices({ quick });
    for (let round = 0; canCount && round < countedRounds; round++) {
      for (const [i, { options }] of MODES.entries()) {
        found[i].instructions.push(await instructionsOf(directory, options, counted));
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  const [all, kept] = found;
  const share = (100 * median(kept.bytes)) / median(all.bytes);
  const ratio = median(kept.us.map((us, i) => us / all.us[i]));
  const counts = await countServices({ quick });
  return {
    tables: [
      {
        title: `${count} requests of 5 spans, 200 in flight, median of ${rounds} processes each in turn`,
        columns: [
          '',
          'bytes a request',
          '% of everything',
          'GB a day at 2,000/s',
          'CPU us/request',
          'instructions/request',
        ],
        rows: found.map(({ name, us, bytes, instructions }) => [
          name,
          median(bytes),
          (100 * median(bytes)) / median(all.bytes),
          (median(bytes) * REQUESTS_A_DAY) / 1e9,
          median(us),
          canCount ? Math.round(median(instructions)) : '',
        ]),
      },
      {
        title: 'A service of Fastify, pg, mysql2 and redis, a request',
        columns: ['', '', 'everything', 'keep', 'ratio'],
        rows: [...times.rows, ...counts.rows],
      },
    ],
    goals: [
      {
        goal: `${KEEP}: at most ${MOST_BYTES} % of the bytes of everything`,
        figure: share,
        met: share <= MOST_BYTES,
      },
      {
        goal: `${KEEP}: at most the CPU time of recording everything`,
        figure: ratio,
        met: ratio <= 1,
      },
      ...(canCount
        ? [
            {
              goal: `${KEEP}: at most the instructions of recording everything`,
              figure: median(kept.instructions) / median(all.instructions),
              met: median(kept.instructions) <= median(all.instructions),
            },
          ]
        : []),
      ...times.goals,
    ],
    notes: [
      'CPU time is that of the process with all of its threads. In the first table it is of the spans alone: the service does nothing else.',
      'Instructions are counted by callgrind, without the garbage collector and with the thread that writes.',
      counts.note,
    ],
  };
}

await main(import.meta.url, { title: 'What keeping slow and failed requests costs', measure });
