import { describe, expect, it } from 'vitest';
import { readSpans } from '../../src/spans/index.js';
import type { SpanRecord } from '../../src/spans/index.js';
import { TracedProcess } from '../node/traced-process.js';
import { hephFiles } from '../node/written-traces.js';
import { installedPackages } from './packages.js';
import { describeWith } from './servers.js';
import { below, expectNothingOf } from './traced-library.js';
import { recoverTrace } from '../../src/heph/index.js';

/** What a process has below its span `work` when it is killed: its bytes have no values. */
async function leftBy(fixture: string): Promise<SpanRecord[]> {
  const place = await installedPackages('newest');
  const script = new URL(`fixtures/${fixture}.mjs`, import.meta.url).href;
  const traced = new TracedProcess(script, {
    args: [place],
    env: {
      TRACEWRIGHT_CONTEXT: 'on',
      TRACEWRIGHT_LIBRARIES: 'auto,net,lru-cache',
      TRACEWRIGHT_QUERY_TEXT: '1',
    },
    cwd: place,
  });
  await traced.printed(/^open$/m);
  traced.kill('SIGKILL');
  expect((await traced.ended()).stderr).toBe('');
  // The rings and the places of open spans as the process has left them, then the trace.
  expectNothingOf('secret', traced.directory);
  const files = hephFiles(traced.directory).filter((path) => path.endsWith('.heph'));
  for (const file of files) recoverTrace(file);
  expectNothingOf('secret', traced.directory);
  const spans: SpanRecord[] = [];
  for await (const span of readSpans(files)) spans.push(span);
  const open = below(spans, 'work');
  for (const span of open) expect(span.unfinished).toBe(true);
  return open;
}

describe('what is asked when the process is killed', () => {
  it('is in the trace without values, of what needs no server of the machine', async () => {
    const open = await leftBy('in-flight-alone');
    const names = open.map(({ name }) => name).sort();
    expect(names).toEqual(['SELECT', 'cache miss', 'find waits', 'invoke_agent large-1', 'node']);
  });
});

await describeWith(['PostgreSQL', 'MariaDB', 'Redis'], 'what servers are asked', () => {
  it('is in the trace, without values', async () => {
    const names = (await leftBy('in-flight')).map(({ name }) => name).sort();
    expect(names).toEqual(['BLPOP', 'BLPOP', 'SELECT', 'SELECT']);
  });
});
