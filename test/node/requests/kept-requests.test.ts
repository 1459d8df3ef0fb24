import { describe, expect, it } from 'vitest';
import { readPackets } from '../../../src/heph/read/reader.js';
import { readSpans } from '../../../src/spans/index.js';
import { releasedOf } from '../../../src/spans/read/released-requests.js';
import { TracedProcess } from '../traced-process.js';
import { hephFiles } from '../written-traces.js';

const PATHS: readonly (readonly [path: string, count: number])[] = [
  ['/express/users/7', 20],
  ['/express/users/wrong', 2],
  ['/fastify/7', 5],
  ['/unknown', 3],
];

interface Outcome {
  /** Names and statuses of requests, and why they were kept. */
  spans: string[];
  counts: Record<string, number>;
  stderr: string;
}

async function serve(keep: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<Outcome> {
  const service = new TracedProcess('routed-service.mjs', { env: { TRACEWRIGHT_KEEP: keep } });
  await service.port();
  for (const [path, count] of PATHS) {
    for (let n = 0; n < count; n++) await service.get(path);
  }
  await service.printed(/(?:^done .*\n){30}/m);
  service.kill(signal);
  const { stderr } = await service.ended();
  const spans: string[] = [];
  const counts: Record<string, number> = {};
  for (const path of hephFiles(service.directory)) {
    if (!path.endsWith('.heph')) continue;
    for await (const { kind, name, attributes, kept } of readSpans(path)) {
      const status = String(attributes['http.response.status_code']);
      if (kind === 'server') spans.push(`${name}: ${status}, ${String(kept?.reason)}`);
    }
    for (const packet of readPackets(path)) {
      if (packet.kind !== 'event' || packet.description !== 'tracewright.released') continue;
      const { name, route, count } = releasedOf(packet);
      counts[`${name} | ${route}`] = (counts[`${name} | ${route}`] ?? 0) + count;
    }
  }
  return { spans, counts, stderr };
}

describe('requests of a service with the hook', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'are kept if they fail, and counted by their routes otherwise, until %s',
    async (signal) => {
      const { spans, counts, stderr } = await serve('slower:60s,errors', signal);
      expect(stderr).toBe('');
      expect(spans).toEqual(Array(2).fill('GET /express/users/:id: 500, error'));
      expect(counts).toEqual({
        'GET /express/users/:id | /express/users/:id': 20,
        'GET /fastify/:id | /fastify/:id': 5,
        'GET | ': 3,
      });
    },
  );

  it('are all recorded if the rules are wrong, and a warning says what is right', async () => {
    const { spans, counts, stderr } = await serve('slowr:500ms,errors');
    expect(stderr).toMatch(
      /TRACEWRIGHT_KEEP: "slowr:500ms" must be slower:500ms, .*; did you mean "slower"\?; it counts as not set/,
    );
    expect(stderr.match(/TRACEWRIGHT_KEEP: /g)).toHaveLength(1);
    expect(spans).toHaveLength(30);
    expect(counts).toEqual({});
  });
});
