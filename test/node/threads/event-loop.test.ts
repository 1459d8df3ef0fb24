import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readSpans } from '../../../src/spans/index.js';
import type { SpanRecord } from '../../../src/spans/index.js';
import { reportOn } from '../../look/report/recorded-service.js';
import { steppingClocks } from '../../stepping-clocks.js';
import { ControlGroup } from '../control-group.js';
import { TracedProcess, temporaryDirectory } from '../traced-process.js';
import { faultsOf, hephFiles } from '../written-traces.js';

const command = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const NAME = 'event loop blocked';
const MS = 1_000_000n;
const env = { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_STALL_MS: '50' };

async function spansIn(directory: string): Promise<SpanRecord[]> {
  const spans: SpanRecord[] = [];
  for await (const span of readSpans(hephFiles(directory))) spans.push(span);
  return spans;
}

/** The stalls from the last request for a path on: loading the service, or what records spans, is one too. */
async function stallsOf(service: TracedProcess, path: string): Promise<SpanRecord[]> {
  const spans = await spansIn(service.directory);
  const request = spans.filter(({ attributes }) => attributes['url.path'] === path).at(-1)!;
  return spans.filter(({ name, end }) => name === NAME && end > request.start);
}

/** `held`: on a machine that has other things to do. */
const RUNNING = ['code', 'held'];

function isLong({ start, end }: SpanRecord): boolean {
  return end - start > 300n * MS;
}

function causesOf(stalls: readonly SpanRecord[]): unknown[] {
  return stalls.map(({ attributes }) => attributes['eventloop.cause']);
}

async function exit(service: TracedProcess): Promise<void> {
  await service.get('/exit');
  await service.ended();
  expect(faultsOf(service.directory)).toEqual([]);
}

function recover(service: TracedProcess): void {
  const { status, stderr } = spawnSync(process.execPath, [command, 'recover', service.directory], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
}

/** How long the threads of a process have waited for a CPU, in ms; 0 where the system does not say it. */
function cpuWait(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).reduce((sum, task) => {
    const [, delay = '0'] = readFileSync(join(tasks, task, 'schedstat'), 'utf8').split(' ');
    return sum + Number(delay) / 1e6;
  }, 0);
}

/** Waits for a CPU that change no cause, in ms. */
const SHORT_WAIT = 20;
const MOST_TRIES = 3;

/** A service that was blocked by a request, if it can be where threads had the CPU that they wanted. */
async function blockedService(way: string) {
  for (let tries = 1; ; tries++) {
    const service = new TracedProcess('blocked-service.mjs', { env });
    await service.get('/nothing');
    const before = cpuWait(service.pid);
    expect(await service.get(`/${way}`)).toBe(`${way}\n`);
    const isBusyMachine = cpuWait(service.pid) - before > SHORT_WAIT;
    await exit(service);
    if (!isBusyMachine || tries === MOST_TRIES) return { service, isBusyMachine };
  }
}

describe('a loop is recorded as blocked by', () => {
  it.each([
    ['loop', 'code'],
    ['expression', 'code'],
    ['crypto', 'code'],
    ['wait', 'wait'],
    ['process', 'wait'],
  ])('%s, cause %s', async (way, cause) => {
    const { service, isBusyMachine } = await blockedService(way);
    const request = (await spansIn(service.directory)).find(
      ({ attributes }) => attributes['url.path'] === `/${way}`,
    )!;
    // It is the turn in which the request came.
    const [stall, ...more] = (await stallsOf(service, `/${way}`)).filter(
      ({ start }) => start <= request.start,
    );
    expect(more).toEqual([]);
    expect(stall).toMatchObject({
      kind: 'internal',
      unfinished: false,
      scope: { name: 'tracewright/event-loop' },
    });
    expect(stall!.end - stall!.start).toBeGreaterThan(150n * MS);
    expect(stall!.end).toBeGreaterThan(request.end - 5n * MS);
    const own = stall!.attributes['eventloop.cause'];
    const cpu = Number(stall!.attributes['eventloop.cpu_ms']);
    if (!isBusyMachine) {
      expect(own).toBe(cause);
      expect(request.start - stall!.start).toBeLessThan(100n * MS);
      if (cause === 'code') expect(cpu).toBeGreaterThan(100);
    }
    if (cause === 'wait') expect(cpu).toBeLessThan(100);
    // The report says the same of the thread: a request was open, so a sleep is no wait for work.
    const { report } = await reportOn(hephFiles(service.directory));
    const main = report.threads.find(({ thread }) => thread === 'main')!;
    expect(main.stalls).toBeGreaterThan(150e6);
    expect(main.busy).toBeGreaterThan(150e6);
    const causes = report.interruptions.longest
      .filter(({ duration }) => duration > 150e6)
      .map((each) => each.cause);
    expect(causes).toContain(own);
  });
});

describe('a worker of a pool that waits for its tasks asleep', () => {
  it('is neither blocked nor busy', async () => {
    const service = new TracedProcess('pool-worker.mjs', { env });
    await service.ended();
    const { report } = await reportOn(hephFiles(service.directory));
    expect(report.groups.map(({ name, count }) => [name, count])).toContainEqual(['task', 19]);
    const [worker, ...more] = report.threads.filter(({ thread }) => thread !== 'main');
    expect(more).toEqual([]);
    const stalls = (await spansIn(service.directory)).filter(({ name }) => name === NAME);
    // Loading the programs may be one, but no wait is.
    expect(causesOf(stalls)).not.toContain('wait');
    // It works for 2 ms of each 150.
    expect(worker!.utilisation).toBeLessThan(0.3);
  });
});

describe('a loop that blocks for ever is recorded within twice the limit, by', () => {
  it.each([
    ['endless', RUNNING],
    ['asleep', ['wait']],
  ])('%s', { retry: 2 }, async (way, causes) => {
    const service = new TracedProcess('blocked-service.mjs', {
      env: { ...env, TRACEWRIGHT_STALL_MS: '300' },
    });
    await service.get('/nothing');
    const answer = service.get(`/${way}`).catch(() => 'none');
    await service.printed(new RegExp(`^${way} blocks$`, 'm'));
    await pause(600);
    service.kill('SIGKILL');
    await service.ended();
    expect(await answer).toBe('none');
    recover(service);
    const [stall] = await stallsOf(service, `/${way}`);
    expect(stall?.unfinished).toBe(true);
    expect(causes).toContain(stall!.attributes['eventloop.cause']);
    expect(stall!.end - stall!.start).toBeGreaterThan(300n * MS);
    // And the request that it delays.
    const open = (await spansIn(service.directory)).filter(({ unfinished }) => unfinished);
    expect(open.map(({ attributes }) => attributes['url.path'])).toContain(`/${way}`);
    expect(faultsOf(service.directory)).toEqual([]);
  });
});

function expectEndless(stalls: readonly SpanRecord[]): void {
  expect(stalls.map(({ thread }) => thread)).toEqual([1]);
  expect(RUNNING).toContain(causesOf(stalls)[0]);
}

describe('a worker whose loop blocks for ever', () => {
  it('is recorded when its process is killed', async () => {
    const service = new TracedProcess('blocked-service.mjs', { env });
    await service.get('/endless?worker');
    await service.printed(/^worker blocks$/m);
    await pause(600);
    service.kill('SIGKILL');
    await service.ended();
    recover(service);
    const stalls = await stallsOf(service, '/endless');
    expectEndless(stalls.filter(({ unfinished }) => unfinished));
  });

  it('is recorded when it is terminated', async () => {
    const service = new TracedProcess('blocked-service.mjs', { env });
    await service.get('/endless?worker');
    await service.printed(/^worker blocks$/m);
    await pause(600);
    await service.get('/terminate');
    await exit(service);
    const stalls = await stallsOf(service, '/endless');
    expectEndless(stalls.filter(({ unfinished }) => unfinished));
  });
});

const preloaded = steppingClocks(temporaryDirectory());

describe('blocking code is not the cause of', () => {
  it('a loop that is busy, and turns', async () => {
    const service = new TracedProcess('blocked-service.mjs', { env });
    await service.get('/nothing');
    await service.get('/turn');
    await exit(service);
    const causes = causesOf(await stallsOf(service, '/turn'));
    expect(causes.filter((cause) => cause === 'code' || cause === 'wait')).toEqual([]);
  });

  it('a process that is stopped', async () => {
    const service = new TracedProcess('blocked-service.mjs', { env });
    await service.get('/nothing');
    const answer = service.get('/turn');
    await pause(300);
    service.kill('SIGSTOP');
    await pause(700);
    service.kill('SIGCONT');
    await answer;
    await exit(service);
    expect(causesOf((await stallsOf(service, '/turn')).filter(isLong))).toEqual(['stop']);
  });

  it('a process that is stopped while it is idle', async () => {
    const service = new TracedProcess('blocked-service.mjs', { env });
    await service.get('/nothing');
    await pause(500);
    service.kill('SIGSTOP');
    await pause(500);
    service.kill('SIGCONT');
    await service.get('/nothing');
    await exit(service);
    expect((await stallsOf(service, '/nothing')).filter(isLong)).toEqual([]);
  });

  it('a process whose container is paused', async (context) => {
    const group = ControlGroup.freezable(`tracewright-${process.pid}`);
    if (group === undefined) {
      context.skip('no control group that freezes can be made here');
      return;
    }
    const service = new TracedProcess('blocked-service.mjs', { env });
    try {
      await service.get('/nothing');
      group.add(service.pid);
      const answer = service.get('/turn');
      await pause(300);
      group.freeze(true);
      await pause(700);
      group.freeze(false);
      await answer;
      await exit(service);
    } finally {
      group.freeze(false);
      service.kill('SIGKILL');
      await group.remove();
    }
    expect(causesOf((await stallsOf(service, '/turn')).filter(isLong))).toEqual(['stop']);
  });

  it.skipIf(preloaded === undefined)('a machine that is suspended', async () => {
    const service = new TracedProcess('blocked-service.mjs', {
      env: {
        ...env,
        LD_PRELOAD: preloaded!,
        TRACEWRIGHT_TEST_CLOCKS: join(temporaryDirectory(), 'clocks'),
      },
    });
    await service.get('/nothing');
    await service.get('/suspend');
    // A thread looks at the clocks once a second.
    await pause(1100);
    await service.get('/nothing');
    await exit(service);
    const requests = (await spansIn(service.directory)).filter(({ kind }) => kind === 'server');
    const suspended = requests.find(({ attributes }) => attributes['url.path'] === '/suspend')!;
    // The trace has the hour, the turn has not.
    expect(requests.at(-1)!.start - suspended.start).toBeGreaterThan(3600n * 1000n * MS);
    expect(suspended.end - suspended.start).toBeLessThan(1000n * MS);
    expect((await stallsOf(service, '/suspend')).filter(isLong)).toEqual([]);
  });

  it('a process whose container has used up its share of the CPU', async (context) => {
    const group = ControlGroup.throttled(`tracewright-${process.pid}`);
    if (group === undefined) {
      context.skip('no control group with a quota can be made here');
      return;
    }
    const service = new TracedProcess('blocked-service.mjs', { env });
    try {
      await service.get('/nothing');
      group.add(service.pid);
      // Turns of 10 ms of CPU time, which take the rest of a period once there is no more.
      await service.get('/turn');
      await exit(service);
    } finally {
      service.kill('SIGKILL');
      await group.remove();
    }
    const causes = causesOf(await stallsOf(service, '/turn'));
    expect(causes).not.toEqual([]);
    expect(causes.filter((cause) => cause !== 'held' && cause !== 'stop')).toEqual([]);
  });

  it('a thread at a breakpoint', async () => {
    const service = new TracedProcess('blocked-service.mjs', { env });
    await service.get('/debug');
    await exit(service);
    const stalls = await stallsOf(service, '/debug');
    expect(causesOf(stalls.filter(isLong))).toEqual(['debugger']);
  });
});

describe('the watch', () => {
  it('is off with TRACEWRIGHT_STALL_MS=off', async () => {
    const service = new TracedProcess('blocked-service.mjs', {
      env: { ...env, TRACEWRIGHT_STALL_MS: 'off' },
    });
    await service.get('/loop');
    await exit(service);
    expect((await spansIn(service.directory)).map(({ name }) => name)).toEqual(['GET', 'GET']);
  });

  it.runIf(process.platform === 'linux')('has no ticks while the process is idle', async () => {
    const service = new TracedProcess('blocked-service.mjs', { env });
    await service.get('/loop');
    // The connection's time is over, and what was recorded is written.
    await pause(8000);
    const switches = (): number[] => {
      const tasks = `/proc/${service.pid}/task`;
      return readdirSync(tasks).map((task) => {
        const status = readFileSync(join(tasks, task, 'status'), 'utf8');
        return Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)![1]);
      });
    };
    const before = switches();
    await pause(3000);
    expect(switches()).toEqual(before);
    await exit(service);
  });
});
