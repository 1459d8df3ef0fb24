import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readStream } from '../../../src/ovni/read/ordered-reader.js';
import { readTraceDirectory } from '../../../src/ovni/read/trace-directory.js';
import { TracedProcess } from '../traced-process.js';
import { faultsOf, hephFiles, requestsOf, streamsOf } from '../written-traces.js';

describe('cluster workers', () => {
  it.each(['--import', 'NODE_OPTIONS'] as const)(
    'write into the directory of their primary, by %s',
    async (hook) => {
      const service = new TracedProcess('cluster-service.mjs', {
        hook,
        env: { TRACEWRIGHT_FORMATS: 'heph,ovni', TRACEWRIGHT_QUIET: '0' },
      });
      const pids = new Set<number>();
      while (pids.size < 2) pids.add(Number(await service.get('/')));
      const ended = new Set<number>();
      while (ended.size < 2) ended.add(Number(await service.get('/end').catch(() => 0)) || 0);
      const { code, stderr } = await service.ended();
      expect(code).toBe(0);
      expect(stderr.match(/is traced in/g)).toHaveLength(1);

      const { directory } = service;
      expect(faultsOf(directory)).toEqual([]);
      const { looms } = readTraceDirectory(join(directory, 'ovni'));
      expect(looms.flatMap(({ processes }) => processes.map(({ pid }) => pid)).sort()).toEqual(
        [service.pid, ...pids].sort(),
      );
      // The primary serves nothing itself. Its life is recorded if it was long enough.
      expect([2, 3]).toContain(hephFiles(directory).length);
      const served = requestsOf(directory).map(({ path }) => path);
      expect(served.filter((path) => path === '/end')).toHaveLength(2);
    },
  );
});

describe('a process', () => {
  it('joins the run of its parent, and leads its streams with the clock of the run', async () => {
    const parent = new TracedProcess('service.mjs', {
      env: { TRACEWRIGHT_FORMATS: 'heph,ovni' },
    });
    const inherited = JSON.parse(await parent.get('/environment')) as Record<string, string>;
    const child = new TracedProcess('service.mjs', {
      env: { ...inherited, TRACEWRIGHT_QUIET: '0' },
    });
    await child.get('/');
    child.kill('SIGTERM');
    const { stderr } = await child.ended();
    parent.kill('SIGTERM');
    await parent.ended();
    expect(stderr).toBe('');
    expect(faultsOf(parent.directory)).toEqual([]);
    const { streams } = readTraceDirectory(join(parent.directory, 'ovni'));
    expect(new Set(streams.map(({ pid }) => pid))).toEqual(new Set([parent.pid, child.pid]));
    const begins = streams.map(({ path, version }) => {
      for (const { clock } of readStream(path, { version })) return clock;
      return undefined;
    });
    expect(new Set(begins).size).toBe(1);
  });

  it('begins a run of its own when it is given another directory', async () => {
    const parent = new TracedProcess('service.mjs', {
      env: { TRACEWRIGHT_FORMATS: 'heph,ovni' },
    });
    const inherited = JSON.parse(await parent.get('/environment')) as Record<string, string>;
    const child = new TracedProcess('service.mjs', {
      env: {
        TRACEWRIGHT_FORMATS: 'heph,ovni',
        TRACEWRIGHT_RUN: inherited['TRACEWRIGHT_RUN']!,
      },
    });
    await child.get('/');
    for (const each of [child, parent]) {
      each.kill('SIGTERM');
      await each.ended();
      expect(faultsOf(each.directory)).toEqual([]);
      expect(streamsOf(each.directory).get('main')![0]!.mcv).toBe('OHx');
    }
  });

  it('that finds a run it cannot belong to begins its own', async () => {
    for (const run of [
      '',
      'nonsense',
      '{}',
      '{"directory":"/nowhere","firstClock":"1","setting":""}',
    ]) {
      const service = new TracedProcess('service.mjs', { env: { TRACEWRIGHT_RUN: run } });
      await service.serve('/');
      service.kill('SIGTERM');
      expect(await service.ended()).toMatchObject({ stderr: '' });
      expect(requestsOf(service.directory)).toHaveLength(1);
    }
  });
});
