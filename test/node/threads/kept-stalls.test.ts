import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readSpans } from '../../../src/spans/index.js';
import { TracedProcess } from '../traced-process.js';
import { hephFiles } from '../written-traces.js';

async function keptOf(service: TracedProcess): Promise<string[]> {
  service.kill('SIGTERM');
  await service.ended();
  const kept: string[] = [];
  for await (const { name, kind, attributes } of readSpans(hephFiles(service.directory))) {
    if (kind === 'server' && name === 'GET') kept.push(String(attributes['url.path']));
  }
  return kept.sort();
}

function serve(env: Record<string, string>, ...args: string[]): TracedProcess {
  return new TracedProcess('stalling-service.mjs', {
    env: { TRACEWRIGHT_STALL_MS: '50', TRACEWRIGHT_KEEP: 'stalls:200ms', ...env },
    args,
  });
}

describe.each([
  ['main', []],
  ['worker', ['worker']],
])('stalls in a %s thread', (_, args) => {
  it('have the requests kept that caused or suffered them, and no others', async () => {
    const service = serve({}, ...args);
    await service.get('/wait/1');
    await pause(1200);
    for (let i = 0; i < 3; i++) await service.get('/wait/1');
    await service.get('/wait/400');
    await service.get('/block/80');
    // The thread of a busy machine may stall by itself.
    const suffering = service.get('/wait/500');
    const brief = service.get('/wait/150');
    await pause(20);
    await service.get('/block/300');
    await Promise.all([suffering, brief]);
    await service.get('/later/301');
    await service.get('/wait/401');
    const kept = await keptOf(service);
    expect(kept).toEqual(['/block/300', '/later/301', '/wait/150', '/wait/500']);
  });
});

describe('stalls', () => {
  it('are unknown without the watch, and those below its limit to those who suffer them', async () => {
    const unwatched = serve({ TRACEWRIGHT_STALL_MS: 'off' });
    await unwatched.get('/block/300');
    expect(await keptOf(unwatched)).toEqual([]);
    const coarse = serve({ TRACEWRIGHT_STALL_MS: '1s' });
    await coarse.get('/wait/1');
    const suffering = coarse.get('/wait/500');
    await pause(100);
    await coarse.get('/block/300');
    await suffering;
    // Its own turn is known while it lasts.
    expect(await keptOf(coarse)).toEqual(['/block/300']);
  });
});
