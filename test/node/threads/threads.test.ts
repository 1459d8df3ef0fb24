import { describe, expect, it } from 'vitest';
import { TracedProcess } from '../traced-process.js';
import { faultsOf, requestsOf, spansOf, streamsOf } from '../written-traces.js';

async function withWorker(
  hook: '--import' | '-r' | 'NODE_OPTIONS',
): Promise<{ service: TracedProcess; ask: (path: string) => Promise<Response> }> {
  const service = new TracedProcess('service.mjs', {
    hook,
    env: { TRACEWRIGHT_FORMATS: 'heph,ovni' },
  });
  const port = await service.get('/worker');
  return { service, ask: (path) => fetch(`http://127.0.0.1:${port}${path}`) };
}

describe.each(['--import', '-r', 'NODE_OPTIONS'] as const)('a worker thread, by %s', (hook) => {
  it('joins the traces of its process', async () => {
    const { service, ask } = await withWorker(hook);
    expect(await (await ask('/')).text()).toBe('from the worker\n');
    await (await ask('/return')).text();
    await service.printed(/^worker ended 0$/m);
    await service.get('/exit');
    await service.ended();

    expect(faultsOf(service.directory)).toEqual([]);
    const streams = streamsOf(service.directory);
    const main = streams.get('main')!;
    const worker = streams.get('worker 1')!;
    expect(worker[0]).toMatchObject({ mcv: 'OB.', clock: main[0]!.clock });
    expect(worker[1]).toMatchObject({ mcv: 'OHx', arguments: { cpu: -1, tid: service.pid } });
    expect(worker.at(-1)!.mcv).toBe('OHe');
    const paths = (stream: number): unknown[] =>
      spansOf(service.directory)
        .filter((span) => span.stream === stream)
        .map(({ attributes }) => attributes['url.path']);
    expect(paths(0)).toEqual(['/worker', '/exit']);
    expect(paths(1)).toEqual(['/', '/return']);
  });
});

describe('a worker thread leaves complete traces when it ends by', () => {
  it.each([
    ['process.exit', '/exit', 4],
    ['an uncaught exception', '/throw', 1],
  ])('%s', async (_, path, code) => {
    const { service, ask } = await withWorker('--import');
    await (await ask(path)).text();
    await service.printed(new RegExp(`^worker ended ${code}$`, 'm'));
    await service.get('/exit');
    await service.ended();
    expect(faultsOf(service.directory)).toEqual([]);
    expect(requestsOf(service.directory)).toContainEqual({ method: 'GET', path, status: 200n });
  });

  it('worker.terminate in the middle of a request', async () => {
    const { service, ask } = await withWorker('--import');
    await (await ask('/')).text();
    const held = await ask('/hold');
    await service.get('/terminate');
    await held.text().catch(() => undefined);
    await service.get('/exit');
    await service.ended();
    expect(faultsOf(service.directory)).toEqual([]);
    const worker = streamsOf(service.directory).get('worker 1')!;
    expect(worker.at(-1)!.mcv).toBe('OHe');
    const marks = worker.filter(({ mcv }) => mcv === 'OM=');
    expect(marks.map((mark) => mark.arguments['value'])).toEqual([2n, 1n, 2n]);
  });

  it('the end of its process while it serves', async () => {
    const { service, ask } = await withWorker('--import');
    const held = await ask('/hold');
    await service.get('/exit');
    await service.ended();
    await held.text().catch(() => undefined);
    expect(faultsOf(service.directory)).toEqual([]);
    expect(streamsOf(service.directory).get('worker 1')!.at(-1)!.mcv).toBe('OHe');
  });

  it('a signal to its process', async () => {
    const { service, ask } = await withWorker('--import');
    await (await ask('/')).text();
    await service.printed(/^worker done$/m);
    service.kill('SIGTERM');
    expect(await service.ended()).toMatchObject({ signal: 'SIGTERM' });
    expect(faultsOf(service.directory)).toEqual([]);
    expect(requestsOf(service.directory)).toContainEqual({
      method: 'GET',
      path: '/',
      status: 200n,
    });
  });
});
