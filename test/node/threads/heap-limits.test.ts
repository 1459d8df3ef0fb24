import { expect, it } from 'vitest';
import { reportOn } from '../../look/report/recorded-service.js';
import { TracedProcess } from '../traced-process.js';
import { hephFiles } from '../written-traces.js';

it.each([[['--max-old-space-size=200']], [[]]])(
  'a heap has the limit of V8 with %j',
  async (flags) => {
    const service = new TracedProcess('limited-heaps.mjs', {
      env: { TRACEWRIGHT_STALL_MS: '1000' },
      flags,
    });
    const { code, stdout } = await service.ended();
    expect(code).toBe(0);
    const [, main] = /^main (\d+)/m.exec(stdout)!;
    const [, worker] = /^worker (\d+)/m.exec(stdout)!;
    // The flag counts for all threads, else each has its own.
    if (flags.length > 0) expect(Number(main)).toBeLessThan(400 * 2 ** 20);
    else expect(Number(worker)).toBeLessThan(Number(main) / 2);
    const { report } = await reportOn(hephFiles(service.directory));
    const limits = report.memory.map(({ kind, thread, limit }) => [kind, thread, limit]);
    expect(limits).toEqual(
      expect.arrayContaining([
        ['heap', 'main', Number(main)],
        ['heap', expect.stringContaining('worker'), Number(worker)],
        ['resident', 'main', null],
      ]),
    );
    // Those of the loops have none.
    const curves = report.timeline.heaps.map(({ thread, limit }) => [thread, limit]);
    expect(curves).toEqual(
      expect.arrayContaining([
        ['main', Number(main)],
        [expect.stringContaining('worker'), Number(worker)],
      ]),
    );
    expect(report.timeline.loops.map(({ limit }) => limit)).toEqual([null, null]);
  },
);
