import { expect, it } from 'vitest';
import { recoverTrace } from '../../src/heph/index.js';
import { readSpans } from '../../src/spans/index.js';
import { EVERY_MIDDLEWARE } from './traced-library.js';
import { TracedProcess } from '../node/traced-process.js';
import { hephFiles } from '../node/written-traces.js';
import { installedPackages } from './packages.js';

it('handlers that never settle end with their request when its client leaves, or has its answer', async () => {
  const place = await installedPackages('newest');
  const script = new URL('fixtures/abandoned-handlers.mjs', import.meta.url).href;
  const traced = new TracedProcess(script, {
    args: [place],
    env: { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_LIBRARIES: EVERY_MIDDLEWARE },
    cwd: place,
  });
  await traced.printed(/^open$/m);
  traced.kill('SIGKILL');
  expect((await traced.ended()).stderr).toBe('');
  const files = hephFiles(traced.directory).filter((path) => path.endsWith('.heph'));
  for (const file of files) recoverTrace(file);

  const counts: Record<string, number> = {};
  for await (const { kind, scope, unfinished } of readSpans(files)) {
    const name = kind === 'server' ? kind : String(scope?.name).replace('tracewright/', '');
    if (!/^(server|express|fastify|koa|hono)$/.test(name)) continue;
    expect(unfinished).toBe(false);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  expect(counts).toEqual({ server: 24, express: 12, fastify: 6, koa: 12, hono: 12 });
});
