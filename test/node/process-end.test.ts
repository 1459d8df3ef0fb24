import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { TracedProcess as AnyProcess } from './traced-process.js';
import { faultsOf, requestsOf, streamsOf } from './written-traces.js';

class TracedProcess extends AnyProcess {
  constructor(script: string, options: ConstructorParameters<typeof AnyProcess>[1] = {}) {
    super(script, { ...options, env: { TRACEWRIGHT_FORMATS: 'heph,ovni', ...options.env } });
  }
}

function expectComplete(service: TracedProcess, paths: string[]): void {
  const { directory } = service;
  expect(faultsOf(directory)).toEqual([]);
  expect(requestsOf(directory)).toEqual(
    paths.map((path) => ({ method: 'GET', path, status: 200n })),
  );
  const main = streamsOf(directory).get('main')!;
  expect(main[0]!.mcv).toBe('OHx');
  expect(main.at(-1)!.mcv).toBe('OHe');
  // One event when a request comes and one when it goes.
  expect(main.filter(({ mcv }) => mcv === 'OM=')).toHaveLength(2 * paths.length);
}

describe('a service leaves complete traces when it ends by', () => {
  it.each([
    ['return', '/return', 0],
    ['process.exit', '/exit', 3],
    ['an uncaught exception', '/throw', 1],
    ['an unhandled rejection', '/reject', 1],
  ])('%s', async (_, path, code) => {
    const service = new TracedProcess('service.mjs');
    expect(await service.serve('/')).toBe('hello\n');
    await service.get(path);
    expect(await service.ended()).toMatchObject({ code, signal: null });
    expectComplete(service, ['/', path]);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s', async (signal) => {
    const service = new TracedProcess('service.mjs');
    await service.serve('/');
    service.kill(signal);
    expect(await service.ended()).toMatchObject({ code: null, signal, stderr: '' });
    expectComplete(service, ['/']);
  });

  it.each([50, 100, 200, 400])('one signal that comes again after %s µs', async (later) => {
    const service = new TracedProcess('ceaseless-workers.mjs', {
      flags: ['--expose-gc'],
    });
    await service.printed(/^begun 2$/m);
    service.kill('SIGINT');
    // Sooner, the two would be one.
    for (const from = performance.now(); performance.now() - from < later / 1000;);
    service.kill('SIGINT');
    expect(await service.ended()).toMatchObject({ code: null, signal: 'SIGINT', stderr: '' });
    expect(faultsOf(service.directory)).toEqual([]);
  });

  it('a signal while the event loop is blocked', async () => {
    const service = new TracedProcess('service.mjs');
    await service.get('/block');
    await service.printed(/^blocked$/m);
    service.kill('SIGTERM');
    expect(await service.ended()).toMatchObject({ code: null, signal: 'SIGTERM' });
    expectComplete(service, ['/block']);
  });

  it('a signal while the event loop is blocked that would record counts', async () => {
    const service = new TracedProcess('service.mjs', { env: { TRACEWRIGHT_KEEP: 'ratio:0.5' } });
    await service.get('/block');
    await service.printed(/^blocked$/m);
    service.kill('SIGTERM');
    expect(await service.ended()).toMatchObject({ code: null, signal: 'SIGTERM' });
    expect(faultsOf(service.directory)).toEqual([]);
  });

  it('a signal while a request is open, whose start the mark shows', async () => {
    const service = new TracedProcess('service.mjs', {});
    void service.get('/hold').catch(() => undefined);
    await service.printed(/^held$/m);
    service.kill('SIGTERM');
    await service.ended();
    expect(faultsOf(service.directory)).toEqual([]);
    const marks = streamsOf(service.directory)
      .get('main')!
      .filter(({ mcv }) => mcv === 'OM=');
    expect(marks.map((mark) => mark.arguments['value'])).toEqual([2n]);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7])('a signal while streams begin, %s', async (round) => {
    const service = new TracedProcess('ceaseless-workers.mjs', { flags: ['--expose-gc'] });
    await service.printed(/^begun 2$/m);
    // Wherever this falls in the life of the next worker, everything must be whole.
    await sleep(7 * round);
    service.kill('SIGTERM');
    expect(await service.ended()).toMatchObject({ signal: 'SIGTERM', stderr: '' });
    expect(faultsOf(service.directory)).toEqual([]);
  });
});

const unshare = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
const mayUnshare = spawnSync(unshare[0]!, [...unshare.slice(1), 'true']).status === 0;

describe.skipIf(!mayUnshare)('a signal to process 1 (needs a pid namespace)', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '%s ends neither it nor the trace',
    async (signal) => {
      const service = new TracedProcess('service.mjs', { wrapper: unshare });
      await service.serve('/');
      const tasks = `/proc/${service.pid}/task/${service.pid}/children`;
      const pid = Number(readFileSync(tasks, 'utf8'));
      process.kill(pid, signal);
      // The second one finds what the first one has left.
      await sleep(100);
      process.kill(pid, signal);
      await service.serve('/stream');
      await service.get('/exit');
      expect(await service.ended()).toMatchObject({ code: 3, stderr: '' });
      expectComplete(service, ['/', '/stream', '/exit']);
    },
  );
});

describe('signals that the program handles', () => {
  it('and that do not end it do not end its trace', async () => {
    const service = new TracedProcess('service.mjs');
    await service.serve('/survive?signal=SIGTERM');
    service.kill('SIGTERM');
    await service.printed(/^survived$/m);
    await service.serve('/');
    await service.get('/exit');
    expect(await service.ended()).toMatchObject({ code: 3, stderr: '' });
    expectComplete(service, ['/survive', '/', '/exit']);
  });

  it('reach its own handler once, and its exit code is kept', async () => {
    const service = new TracedProcess('service.mjs');
    await service.serve('/handle?signal=SIGTERM');
    service.kill('SIGTERM');
    const { code, signal, stdout } = await service.ended();
    expect({ code, signal }).toEqual({ code: 7, signal: null });
    expect(stdout.match(/handled/g)).toHaveLength(1);
    expectComplete(service, ['/handle']);
  });

  it('end it when it has let go of them', async () => {
    const service = new TracedProcess('service.mjs');
    await service.serve('/handle-once?signal=SIGINT');
    service.kill('SIGINT');
    await service.printed(/^handled once$/m);
    await service.serve('/');
    service.kill('SIGINT');
    expect(await service.ended()).toMatchObject({ code: null, signal: 'SIGINT' });
    expectComplete(service, ['/handle-once', '/']);
  });

  it('end it when it never needed them', async () => {
    const service = new TracedProcess('service.mjs');
    await service.serve('/ignore?signal=SIGTERM');
    service.kill('SIGTERM');
    expect(await service.ended()).toMatchObject({ code: null, signal: 'SIGTERM' });
    expectComplete(service, ['/ignore']);
  });
});

describe('the exit of a program that records something of its own', () => {
  it('finds the stream open', async () => {
    const service = new TracedProcess('late-listener.mjs');
    expect(await service.ended()).toMatchObject({ code: 0, stderr: '' });
    expect(faultsOf(service.directory)).toEqual([]);
    const main = streamsOf(service.directory).get('main')!;
    expect(main.map(({ mcv }) => mcv)).toEqual(['OHx', 'OM=', 'OHe']);
  });

  it('moves the trace out of OVNI_TMPDIR', async () => {
    const first = new TracedProcess('service.mjs');
    const second = new TracedProcess('service.mjs', {
      env: { OVNI_TMPDIR: `${first.directory}.tmp` },
    });
    first.kill('SIGTERM');
    await second.get('/exit');
    await Promise.all([first.ended(), second.ended()]);
    expectComplete(second, ['/exit']);
  });
});
