import { describe, expect, it } from 'vitest';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { allocationTable } from '../../../src/look/report/print/tables/resource-tables.js';
import { reportOn } from '../../look/report/recorded-service.js';
import { temporaryDirectory, TracedProcess } from '../traced-process.js';
import { hephFiles } from '../written-traces.js';

const env = { TRACEWRIGHT_PROFILE: 'heap' };

/** Of a CPU profile. */
async function samplesOf({ directory }: TracedProcess): Promise<number> {
  const index = await openLookIndex([directory]);
  try {
    return [...index.profiles()].flatMap(({ part }) => part.samples).length;
  } finally {
    index.close();
  }
}

describe.each(['main', 'worker'])('allocations of a %s thread', (where) => {
  it('are those that are alive, by function', async () => {
    const service = new TracedProcess('allocating-program.mjs', { env, args: [where] });
    expect(await service.ended()).toMatchObject({ code: 0, stderr: '' });
    const { report } = await reportOn(hephFiles(service.directory));
    const [most] = report.allocations;
    expect(most).toMatchObject({ function: 'keepRows' });
    expect(most!.line).toMatch(/allocating-program\.mjs:8$/);
    expect(most!.share).toBeGreaterThan(0.5);
    // An object of three fields, an array, and the place in the list: some 100 bytes of each of 400,000.
    expect(most!.bytes).toBeGreaterThan(20e6);
    expect(most!.bytes).toBeLessThan(120e6);
    const all = report.allocations.reduce((sum, { share }) => sum + share, 0);
    expect(all).toBeLessThanOrEqual(1.001);
    expect(allocationTable(report.allocations).rows).toHaveLength(report.allocations.length);
    expect(await samplesOf(service)).toBe(0);
  });
});

describe('a heap profile', () => {
  it('works with a CPU profile', async () => {
    const service = new TracedProcess('allocating-program.mjs', {
      env: { TRACEWRIGHT_PROFILE: 'cpu:100,heap' },
    });
    expect(await service.ended()).toMatchObject({ code: 0, stderr: '' });
    const { report } = await reportOn(hephFiles(service.directory));
    expect(report.allocations[0]).toMatchObject({ function: 'keepRows' });
    expect(await samplesOf(service)).toBeGreaterThan(20);
  });

  it('is off unless it is asked for, and leaves the one of the program alone', async () => {
    const none = new TracedProcess('allocating-program.mjs');
    await none.ended();
    expect((await reportOn(hephFiles(none.directory))).report.allocations).toEqual([]);
    const own = new TracedProcess('allocating-program.mjs', {
      env,
      flags: ['--heap-prof', `--heap-prof-dir=${temporaryDirectory()}`],
    });
    const { code, stderr } = await own.ended();
    expect(code).toBe(0);
    expect(stderr).toMatch(/^$|no allocations are recorded/);
  });
});
