// A service that records five spans a request through the OpenTelemetry API: with the hook, and with the SDK.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { CONNECTIONS, loadNote, measureInTurns, SLICE_MS, tableOf } from './http-turns.mjs';

/** @param {string} name */
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

const SERVICE = here('otel-service-program.mjs');
const SPANS = 5;

const VARIANTS = [
  { name: 'plain, without spans', flags: [SERVICE, 'plain'] },
  { name: 'the API alone, nothing records', flags: [SERVICE, 'spans'] },
  {
    name: 'tracewright/register',
    flags: ['--import', 'tracewright/register', SERVICE, 'spans'],
    env: { TRACEWRIGHT_CONTEXT: 'on' },
  },
  {
    name: "OpenTelemetry's SDK, HTTP instrumentation",
    flags: ['--import', here('http-opentelemetry.mjs'), SERVICE, 'spans'],
  },
];
const OURS = 2;
const SDK = 3;

const MOST_OF_SDK = 1 / 3;
const LEAST_OF_PLAIN = 80;
/** From this version of Node on context is cheap. */
const CHEAP_CONTEXT = 24;

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const how = quick ? { generations: 1, slices: 10 } : { generations: 6, slices: 20 };
  const traced = { spans: 0, served: 0 };
  const rows = await measureInTurns(VARIANTS, how, (directories, served) => {
    traced.served += served[OURS];
    traced.spans += countSpans(directories[OURS]);
  });
  // The shares are medians over slices of one round, so that a slow minute does not count.
  const added = rows.map(({ cpuShare }) => (rows[0].cpuUs * (100 - cpuShare)) / cpuShare);
  const ofSdk = added[OURS] / added[SDK];
  const { perSecondShare } = rows[OURS];
  const isCheap = Number.parseInt(process.versions.node) >= CHEAP_CONTEXT;
  return {
    tables: [
      tableOf(
        `A node:http service with ${SPANS} spans a request, ${CONNECTIONS} connections, ${how.generations} times ${how.slices} slices of ${SLICE_MS} ms each in turn`,
        rows,
      ),
      {
        title: 'CPU time a request more than the plain service',
        columns: ['', 'us', 'x the SDK'],
        rows: rows.map(({ name }, i) => [name, added[i], added[i] / added[SDK]]).slice(1),
      },
    ],
    goals: [
      {
        goal: 'CPU time that is added: at most a third of what the SDK adds',
        figure: ofSdk,
        met: ofSdk <= MOST_OF_SDK,
      },
      ...(isCheap
        ? [
            {
              goal: `at least ${LEAST_OF_PLAIN} % of the plain requests/s`,
              figure: perSecondShare,
              met: perSecondShare >= LEAST_OF_PLAIN,
            },
          ]
        : []),
      {
        goal: `${SPANS} spans and the server's one for each request that was served (${traced.served})`,
        figure: traced.spans,
        met: traced.spans >= (SPANS + 1) * traced.served,
      },
    ],
    notes: [
      loadNote(),
      'Both record the server span of each request too. The SDK has a batch processor, and an exporter that does nothing; the hook writes its trace.',
    ],
  };
}

/**
 * Spans in the trace of a run.
 *
 * @param {string} directory
 */
function countSpans(directory) {
  const script = `
    import { readSpans } from 'tracewright/spans';
    import { readdirSync } from 'node:fs';
    import { join } from 'node:path';
    const [, directory] = process.argv;
    const files = readdirSync(directory, { recursive: true }).filter((each) => each.endsWith('.heph'));
    let spans = 0;
    for await (const span of readSpans(files.map((each) => join(directory, each)))) spans += 1;
    console.log(spans);`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script, directory], {
    cwd: here('.'),
    encoding: 'utf8',
  });
  return Number(output);
}

await main(import.meta.url, {
  title: 'The cost of five spans a request through the OpenTelemetry API',
  measure,
});
