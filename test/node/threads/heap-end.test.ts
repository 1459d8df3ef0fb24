import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { endText } from '../../../src/look/report/print/report-texts.js';
import { reportOn } from '../../look/report/recorded-service.js';
import { temporaryDirectory, TracedProcess } from '../traced-process.js';

const LIMIT = '--max-old-space-size=50';

function fill(args: string[], flags: string[] = [], cwd?: string): TracedProcess {
  const env = { TRACEWRIGHT_STALL_MS: '1000' };
  const options = { env, args, flags: [LIMIT, ...flags], ...(cwd === undefined ? {} : { cwd }) };
  return new TracedProcess('full-heap.mjs', options);
}

/** How the report says that the process has ended. */
async function endOf({ directory }: TracedProcess): Promise<string> {
  const { report } = await reportOn([directory]);
  return endText(report.sources[0]!);
}

const ATTEMPTS = 6;

/** A process whose heap was full, and is free again. At its limit V8 may give up instead. */
async function nearlyFull(...further: string[]): Promise<TracedProcess> {
  for (let attempt = 1; ; attempt++) {
    const service = fill(['nearly', ...further], ['--expose-gc', '--max-semi-space-size=1']);
    try {
      await service.printed(/freed/);
      return service;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

const OUT_OF_HEAP = 'ran out of heap (limit 50 MB)';

describe('a process that runs out of heap', () => {
  it('is no killed one, before and after its trace is recovered', async () => {
    const service = fill(['main']);
    const { signal, stderr } = await service.ended();
    expect([signal, stderr]).toEqual(['SIGABRT', expect.stringMatching(/heap out of memory/)]);
    expect(await endOf(service)).toBe(OUT_OF_HEAP);
    const { report } = await reportOn([service.directory]);
    expect(report.findings.map(({ text }) => text)).toEqual([expect.stringContaining(OUT_OF_HEAP)]);
    const command = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
    expect(spawnSync(process.execPath, [command, 'recover', service.directory]).status).toBe(0);
    expect(await endOf(service)).toBe(OUT_OF_HEAP);
  });

  it('still writes the snapshots that Node was asked for', async () => {
    let written = 0;
    // V8 may give up before it says again that the limit is near.
    for (let attempt = 0; attempt < ATTEMPTS && written === 0; attempt++) {
      const directory = temporaryDirectory();
      const service = fill(['main'], ['--heapsnapshot-near-heap-limit=1'], directory);
      expect((await service.ended()).signal).toBe('SIGABRT');
      expect(await endOf(service)).toBe(OUT_OF_HEAP);
      written = readdirSync(directory).filter((name) => name.endsWith('.heapsnapshot')).length;
    }
    expect(written).toBe(1);
  });

  it('is another one than a worker that does: that ends with an error', async () => {
    const service = fill(['worker']);
    expect(await service.ended()).toMatchObject({
      code: 0,
      stdout: 'ERR_WORKER_OUT_OF_MEMORY\n',
    });
    expect(await endOf(service)).toBe('');
  });
});

describe('a process that does not run out of heap', () => {
  it('was killed if anything else has ended it after its heap had been full', async () => {
    const service = await nearlyFull();
    service.kill('SIGKILL');
    expect((await service.ended()).signal).toBe('SIGKILL');
    expect(await endOf(service)).toBe('was killed');
    const own = await nearlyFull('abort');
    expect((await own.ended()).signal).toBe('SIGABRT');
    expect(await endOf(own)).toBe('was killed');
  });

  it('ends by SIGABRT as without the hook, and was killed then', async () => {
    const own = fill(['abort']);
    expect((await own.ended()).signal).toBe('SIGABRT');
    expect(await endOf(own)).toBe('was killed');
    const other = fill(['nothing']);
    await other.printed(/ready/);
    other.kill('SIGABRT');
    expect((await other.ended()).signal).toBe('SIGABRT');
    expect(await endOf(other)).toBe('was killed');
  });
});
