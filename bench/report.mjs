// How long `tracewright report` takes on ten million spans, which have the attributes of a real service: from the
// file, the report that this has left, from the index, and with a condition that half of them meet.

import { spawnSync } from 'node:child_process';
import { createReadStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSpans } from 'tracewright/spans';
import { main } from './benchmark.mjs';
import { writeLookTrace } from './look-trace.mjs';
import { median } from './median.mjs';

const SPANS = 10_000_000;
const ROUNDS = 3;
const FROM_FILES_S = 7;
const FROM_INDEX_S = 1;
const WHERE_S = 5;
const WHERE = 'db.system.name=postgresql';
/** Spans of which the attributes are counted. */
const SAMPLE = 20_000;
/** Of one trace less than usual: such a report is not kept. */
const MADE_ANEW = ['--slowest', '4'];
const cli = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

/** Seconds that the command takes, and what it has read. */
function report(trace, cache, ...options) {
  const args = [cli, 'report', trace, '--json', '--cache', join(cache, 'index'), ...options];
  const from = performance.now();
  const { status, stderr, stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const seconds = (performance.now() - from) / 1000;
  if (status !== 0) throw new Error(`report ended with ${status}: ${stderr}`);
  const { completeness, groups } = JSON.parse(stdout);
  return { seconds, spans: completeness.spans, groups: groups.length };
}

/** Attributes of a span, on average of the first ones. */
async function attributesOf(path) {
  let spans = 0;
  let attributes = 0;
  for await (const span of readSpans(path)) {
    attributes += Object.keys(span.attributes).length;
    if (++spans === SAMPLE) break;
  }
  return attributes / spans;
}

/** Reads a file once. @returns which share of it is in the page cache then, if `fincore` of util-linux says it. */
async function cachedShare(path) {
  const stream = createReadStream(path, { highWaterMark: 1 << 20 });
  for await (const piece of stream) void piece;
  const args = ['--bytes', '--noheadings', '--output', 'RES', path];
  const { status, stdout } = spawnSync('fincore', args, { encoding: 'utf8' });
  if (status !== 0) return 'read once before';
  return `${Math.round((100 * Number(stdout)) / statSync(path).size)} % in the page cache`;
}

function rounds(times, work) {
  const all = Array.from({ length: times }, work);
  const seconds = median(all.map((each) => each.seconds));
  return { ...all[0], seconds };
}

async function measure({ quick, trace }) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-report-'));
  try {
    const path = trace ?? join(directory, 'trace.heph');
    if (trace === undefined) {
      await writeLookTrace(path, { spans: quick ? SPANS / 10 : SPANS, attributes: 'many' });
    }
    const attributes = await attributesOf(path);
    const cached = await cachedShare(path);
    const fromFile = rounds(ROUNDS, () => report(path, directory, '--clear-cache'));
    const kept = rounds(ROUNDS, () => report(path, directory));
    const cases = [
      ['from the index, all of it', MADE_ANEW],
      ['from the index, the last tenth', ['--since=-6m']],
      ['from the index, the second half', ['--since', '+30m']],
      ['from the index, a minute in the middle', ['--since', '+30m', '--until', '+31m']],
    ].map(([name, options]) => [name, rounds(ROUNDS, () => report(path, directory, ...options))]);
    const where = rounds(ROUNDS, () => report(path, directory, '--where', WHERE));
    const slowest = Math.max(...cases.map(([, { seconds }]) => seconds));
    const row = (name, { seconds, spans }) => [name, spans, Number(seconds.toFixed(2))];
    return {
      tables: [
        {
          title:
            `${(statSync(path).size / 2 ** 20).toFixed(0)} MiB of Heph, ${cached}, ` +
            `${attributes.toFixed(1)} attributes a span`,
          columns: ['', 'spans', 's'],
          rows: [
            row('from the file, without an index', fromFile),
            row('the same report again', kept),
            ...cases.map(([name, each]) => row(name, each)),
            row(`from the index, --where ${WHERE}`, where),
          ],
        },
      ],
      goals: [
        {
          goal: `from files in at most ${FROM_FILES_S} s`,
          figure: `${fromFile.seconds.toFixed(2)} s`,
          met: fromFile.seconds <= FROM_FILES_S,
        },
        {
          goal: `from the index in at most ${FROM_INDEX_S} s`,
          figure: `${slowest.toFixed(2)} s`,
          met: slowest <= FROM_INDEX_S,
        },
        {
          goal: `--where ${WHERE} in at most ${WHERE_S} s`,
          figure: `${where.seconds.toFixed(2)} s`,
          met: where.seconds <= WHERE_S,
        },
      ],
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main(import.meta.url, {
  title: 'tracewright report on ten million spans',
  options: { trace: { type: 'string' } },
  help: '  --trace PATH  a trace that bench/look-trace.mjs has written; default: a new one',
  measure,
});
