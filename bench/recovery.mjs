// Recovery of a 1 GiB ovni stream that misses its end, beside copying that stream once.

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
import { addCpu, event, procInit, recoverTrace, threadInit } from 'tracewright/ovni';
import { main } from './benchmark.mjs';
import { median, quantile } from './median.mjs';

const WRITE = '--write';
const EVENT_BYTES = 16;
const GIB = 2 ** 30;

/** Writes events and is killed by itself while its ring holds the last of them. */
function writeAndDie(traceDir, bytes) {
  procInit(1, 'node.1', 1, { traceDir, version: 3 });
  threadInit(1);
  addCpu(0, 0);
  event('OHx')(-1, 1, 0);
  const numbered = event('OB.(u32 n)');
  for (let n = 0; n < bytes / EVENT_BYTES; n++) numbered(n);
  process.kill(process.pid, 'SIGKILL');
}

/** @param {() => unknown} work */
function milliseconds(work) {
  const from = performance.now();
  work();
  return performance.now() - from;
}

async function measure({ quick }) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-recovery-'));
  try {
    const traceDir = join(directory, 'ovni');
    const script = fileURLToPath(import.meta.url);
    spawnSync(process.execPath, [script, WRITE, traceDir, String(quick ? GIB / 10 : GIB)]);
    const thread = join(traceDir, 'loom.node.1/proc.1/thread.1');
    const stream = join(thread, 'stream.obs');
    const { size } = statSync(stream);
    const beside = ['.stream.ring', 'stream.json', '.stream.json.finished'].map((name) => ({
      path: join(thread, name),
      content: readFileSync(join(thread, name)),
    }));
    const times = { recovery: [], copy: [] };
    let recovered;
    for (let round = 0; round < 5; round++) {
      times.copy.push(milliseconds(() => copyFileSync(stream, join(directory, 'copy'))));
      rmSync(join(directory, 'copy'));
      times.recovery.push(milliseconds(() => (recovered = recoverTrace(traceDir))));
      if (recovered.streams.length !== 1 || recovered.faults.length > 0) {
        throw new Error(`recovery failed: ${JSON.stringify(recovered)}`);
      }
      for (const { path, content } of beside) writeFileSync(path, content);
      truncateSync(stream, size);
    }
    const row = (name, all) => [name, median(all), quantile(all, 0), quantile(all, 1)];
    const share = median(times.recovery) / median(times.copy);
    return {
      tables: [
        {
          title: `${(size / 2 ** 20).toFixed(0)} MiB in the page cache, ${recovered.streams[0].bytes} bytes in the ring`,
          columns: ['', 'median ms', 'least ms', 'most ms'],
          rows: [row('recovery', times.recovery), row('copy of the stream', times.copy)],
        },
      ],
      goals: [
        {
          goal: 'less time than copying once',
          figure: `${share.toFixed(2)} of it`,
          met: share < 1,
        },
      ],
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (process.argv[2] === WRITE) writeAndDie(process.argv[3], Number(process.argv[4]));
else await main(import.meta.url, { title: 'Recovery of a long ovni stream', measure });
