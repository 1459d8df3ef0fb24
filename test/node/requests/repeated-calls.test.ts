import { expect, it } from 'vitest';
import { readSpans } from '../../../src/spans/index.js';
import type { SpanRecord } from '../../../src/spans/index.js';
import { TracedProcess } from '../traced-process.js';
import { faultsOf, hephFiles } from '../written-traces.js';

const PATHS = ['/', '/orders/7', '/gr%C3%B6%C3%9Fe?secret', '/missing', `/${'x'.repeat(1000)}`];
const TIMES = 4;

interface Received {
  url: string;
  parents: number;
  parent: string;
}

/** The spans of calls, by fetch and by node:http in turn, and what their server has got. */
async function callsWith(
  env: Record<string, string>,
): Promise<{ calls: SpanRecord[]; received: Received[] }> {
  const program = new TracedProcess('repeating-calls.mjs', {
    args: [JSON.stringify(PATHS), String(TIMES)],
    env: { TRACEWRIGHT_CONTEXT: 'on', ...env },
  });
  const { code, stdout } = await program.ended();
  expect(code).toBe(0);
  expect(faultsOf(program.directory)).toEqual([]);
  const calls: SpanRecord[] = [];
  for await (const span of readSpans(hephFiles(program.directory))) {
    if (span.kind === 'client') calls.push(span);
  }
  calls.sort((a, b) => Number(a.start - b.start));
  const received = stdout.trim().split('\n');
  return { calls, received: received.map((line) => JSON.parse(line) as Received) };
}

/** What of a call is the same each time. */
function content({ name, attributes, status }: SpanRecord) {
  const { 'server.port': port, 'url.full': url, ...others } = attributes;
  expect(typeof port).toBe('number');
  return { name, status, ...others, url: String(url).replace(`:${String(port)}`, '') };
}

it('calls are recorded alike, whether they are sent for the first time or again', async () => {
  const kept = await callsWith({});
  // Without places for open spans every span is encoded at its end.
  const plain = await callsWith({ TRACEWRIGHT_OPEN_SPANS: '0' });
  expect(kept.calls.map(content)).toEqual(plain.calls.map(content));
  const urls = ['/', '/orders/7', '/gr%C3%B6%C3%9Fe', '/missing', `/${'x'.repeat(254)}…`];
  const wanted = urls.flatMap((url) => Array<string>(2 * TIMES).fill(`http://127.0.0.1${url}`));
  expect(kept.calls.map((call) => content(call).url)).toEqual(wanted);
  for (const { calls, received } of [kept, plain]) {
    expect(received).toHaveLength(2 * TIMES * PATHS.length);
    expect(received.map(({ parents }) => parents)).toEqual(received.map(() => 1));
    expect(received.map(({ parent }) => parent)).toEqual(
      calls.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-03`),
    );
  }
});
