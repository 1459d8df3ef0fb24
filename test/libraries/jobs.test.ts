import { describe, expect, it } from 'vitest';
import { lineOf, runLibrary, treeOf } from './traced-library.js';

/** Versions, how they are loaded, and whether they have names of jobs. */
const CASES = [
  ['node-cron', 'newest', 'require', true],
  ['node-cron', 'newest', 'import', true],
  ['node-cron', 'oldest', 'require', false],
  ['node-cron', 'earlier', 'require', true],
  ['node-cron', 'ancient', 'import', true],
  ['croner', 'newest', 'require', true],
  ['croner', 'newest', 'import', true],
  ['croner', 'oldest', 'require', true],
  ['croner', 'earlier', 'import', true],
  ['croner', 'ancient', 'require', true],
  ['cron', 'newest', 'require', true],
  ['cron', 'oldest', 'import', false],
  ['cron', 'earlier', 'require', false],
  ['node-schedule', 'newest', 'import', true],
  ['node-schedule', 'oldest', 'require', true],
] as const;

/** A zone in which it is not midnight: node-cron 4.0.0 throws in the hour after it, where Intl says 24. */
const TZ = new Date().getUTCHours() >= 22 || new Date().getUTCHours() === 0 ? 'Etc/GMT-6' : 'UTC';

describe('a job', () => {
  it.each(CASES)(
    'of %s, %s by %s, begins a trace, with its name or its pattern',
    async (library, age, way, hasNames) => {
      const { spans, stdout } = await runLibrary('jobs', age, library, { TZ }, [library, way]);
      const jobs = spans.filter(({ kind }) => kind === 'consumer');
      const name = (own: string): string => (hasNames ? own : '* * * * * *');
      const atDate = library === 'node-cron' ? [] : ['job at a date'];
      expect(jobs.map(lineOf).sort()).toEqual(
        [
          name('nightly report'),
          `${name('failing')}: E_WANTED`,
          '*/1 * * * * *',
          name('of another request'),
          ...atDate,
        ].sort(),
      );
      for (const job of jobs) {
        expect(job.parentSpanId).toBeUndefined();
        expect(job.scope).toMatchObject({ name: `tracewright/${library}` });
        expect(job.attributes).toMatchObject({
          'messaging.system': library,
          'messaging.operation.type': 'process',
          'messaging.destination.name': job.name,
          'code.function.name': 'tick',
        });
      }
      expect(new Set(jobs.map(({ traceId }) => traceId)).size).toBe(jobs.length);
      const working = jobs.filter((job) => treeOf(spans, job).length > 0);
      expect(working).toHaveLength(2 + atDate.length);
      for (const job of working) {
        expect(treeOf(spans, job)).toEqual(['work']);
        expect(Number(job.end - job.start)).toBeGreaterThan(19e6);
      }
      // The library, or the program, has got the error as it would have without the hook.
      const refused = library === 'node-cron' && age === 'ancient' ? '' : 'E_WANTED';
      expect(stdout).toContain(`refused ${refused}\ntraces ${working.length} false\n`);
    },
  );
});
