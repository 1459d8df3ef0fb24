// Conversions of a trace of spans for other tools: time, memory and size of the result.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { median } from './median.mjs';

const COMMAND = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const GENERATOR = fileURLToPath(new URL('look-trace.mjs', import.meta.url));
const ROUNDS = 3;
const POLL_MS = 20;
const MIB = 2 ** 20;

/** The most memory that a live process has had, in bytes; 0 once it has ended. */
function peakOf(pid) {
  try {
    const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kib ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** Runs one conversion: seconds, processor seconds, peak of memory and size of the result. */
async function convert(to, from, out, options) {
  const args = [COMMAND, 'convert', '--to', to, from, out, ...options];
  const begin = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let messages = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (messages += text));
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, peakOf(child.pid))), POLL_MS);
  const [code] = await once(child, 'close');
  const seconds = (performance.now() - begin) / 1000;
  clearInterval(timer);
  if (code !== 0) throw new Error(`convert --to ${to} ended with ${code}: ${messages}`);
  const { size } = statSync(out);
  rmSync(out);
  return { seconds, peak, size };
}

/** The median of some rounds. */
async function measureOne(to, from, directory, options = [], rounds = ROUNDS) {
  const all = [];
  for (let i = 0; i < rounds; i++) {
    all.push(await convert(to, from, join(directory, 'out'), options));
  }
  return {
    seconds: median(all.map(({ seconds }) => seconds)),
    peak: Math.max(...all.map(({ peak }) => peak)),
    size: all[0].size,
  };
}

function writeTrace(path, spans) {
  const args = [GENERATOR, path, '--spans', String(spans)];
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`look-trace.mjs ended with ${status}`);
}

async function measure({ quick, full = false }) {
  const spans = quick ? 100_000 : 1_000_000;
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-convert-'));
  try {
    const trace = join(directory, 'trace.heph');
    writeTrace(trace, spans);
    const { size: traceSize } = statSync(trace);
    const results = {
      perfetto: await measureOne('perfetto', trace, directory),
      'otlp as JSON': await measureOne('otlp', trace, directory),
      'otlp as protobuf': await measureOne('otlp', trace, directory, ['--encoding', 'protobuf']),
      parquet: await measureOne('parquet', trace, directory),
    };
    const row = (name, { seconds, peak, size }) => [name, seconds, peak / MIB, size / MIB];
    const tables = [
      {
        title: `${spans.toLocaleString('en-US')} spans, ${(traceSize / MIB).toFixed(0)} MiB of Heph`,
        columns: ['convert --to', 's', 'peak MiB', 'result MiB'],
        rows: Object.entries(results).map(([name, result]) => row(name, result)),
      },
    ];
    const goals = [];
    if (!quick) {
      const { seconds } = results.perfetto;
      goals.push({ goal: 'to Perfetto in at most 4 s', figure: seconds, met: seconds <= 4 });
    }
    if (full) {
      rmSync(trace);
      const many = 10 * spans;
      writeTrace(trace, many);
      const parquet = await measureOne('parquet', trace, directory, [], 1);
      tables.push({
        title: `${many.toLocaleString('en-US')} spans`,
        columns: ['convert --to', 's', 'peak MiB', 'result MiB'],
        rows: [row('parquet', parquet)],
      });
      goals.push(
        {
          goal: '10 million spans to Parquet in at most 60 s',
          figure: parquet.seconds,
          met: parquet.seconds <= 60,
        },
        {
          goal: '10 million spans to Parquet in at most 512 MiB',
          figure: parquet.peak / MIB,
          met: parquet.peak <= 512 * MIB,
        },
      );
    }
    return { tables, goals };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main(import.meta.url, {
  title: 'Conversion of spans for other tools',
  help: '  --full   10 million spans to Parquet as well\n',
  options: { full: { type: 'boolean' } },
  measure,
});
