// Recovery of a 1 GiB ovni stream without its end, compared to copying that stream once.

import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  addCpu,
  event,
  markPop,
  markPush,
  markType,
  procInit,
  recoverTrace,
  threadInit,
} from 'tracewright/ovni';
import { main } from './benchmark.mjs';
import { median, quantile } from './median.mjs';

const WRITE = '--write';
const EVENT_BYTES = 16;
const GIB = 2 ** 30;

/**
 * Writes events and is killed by itself while its ring holds the last of them.
 *
 * @param marks whether marks are pushed and popped: then recovery must read the stream, for what is
 *   still pushed.
 */
function writeAndDie(traceDir, bytes, marks) {
  procInit(1, 'node.1', 1, { traceDir, version: 3 });
  threadInit(1);
  addCpu(0, 0);
  if (marks) markType(3, 'Phase', { stack: true });
  event('OHx')(-1, 1, 0);
  const numbered = event('OB.(u32 n)');
  for (let n = 0; n < bytes / EVENT_BYTES; n++) {
    numbered(n);
    if (!marks) continue;
    if (n % 1000 === 0) markPush(3, 7);
    if (n % 1000 === 500) markPop(3, 7);
  }
  process.kill(process.pid, 'SIGKILL');
}

/** @param {() => unknown} work */
function milliseconds(work) {
  const from = performance.now();
  work();
  return performance.now() - from;
}

/** Times of five recoveries of one stream, and of five copies in between. */
function measureOne(directory, bytes, marks) {
  const traceDir = join(directory, marks ? 'marks' : 'plain');
  const script = fileURLToPath(import.meta.url);
  spawnSync(process.execPath, [script, WRITE, traceDir, String(bytes), String(marks)]);
  const thread = join(traceDir, 'loom.node.1/proc.1/thread.1');
  const stream = join(thread, 'stream.obs');
  const { size } = statSync(stream);
  const neighbours = ['.stream.ring', 'stream.json', '.stream.json.finished'].map((name) => ({
    path: join(thread, name),
    content: readFileSync(join(thread, name)),
  }));
  const times = { size, recovery: [], copy: [] };
  for (let round = 0; round < 5; round++) {
    times.copy.push(milliseconds(() => copyFileSync(stream, join(directory, 'copy'))));
    rmSync(join(directory, 'copy'));
    let recovered;
    times.recovery.push(milliseconds(() => (recovered = recoverTrace(traceDir))));
    if (recovered.streams.length !== 1 || recovered.faults.length > 0) {
      throw new Error(`recovery failed: ${JSON.stringify(recovered)}`);
    }
    for (const { path, content } of neighbours) writeFileSync(path, content);
    truncateSync(stream, size);
  }
  rmSync(traceDir, { recursive: true });
  return times;
}

async function measure({ quick }) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-recovery-'));
  try {
    const bytes = quick ? GIB / 10 : GIB;
    const plain = measureOne(directory, bytes, false);
    const marks = measureOne(directory, bytes, true);
    const row = (name, all) => [name, median(all), quantile(all, 0), quantile(all, 1)];
    const goal = (name, { recovery, copy }) => {
      const share = median(recovery) / median(copy);
      return { goal: name, figure: `${share.toFixed(2)} of it`, met: share < 1 };
    };
    return {
      tables: [
        {
          title: `${(plain.size / 2 ** 20).toFixed(0)} MiB in the page cache`,
          columns: ['', 'median ms', 'least ms', 'most ms'],
          rows: [
            row('recovery', plain.recovery),
            row('copy of the stream', plain.copy),
            row('recovery of a stream with marks, which is read', marks.recovery),
            row('copy of that stream', marks.copy),
          ],
        },
      ],
      goals: [
        goal('less time than copying once', plain),
        goal('less time than copying once, with marks', marks),
      ],
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (process.argv[2] === WRITE)
  writeAndDie(process.argv[3], Number(process.argv[4]), process.argv[5] === 'true');
else await main(import.meta.url, { title: 'Recovery of a long ovni stream', measure });
