import { describe, expect, it } from 'vitest';
import { TracedProcess } from '../traced-process.js';
import { faultsOf, requestsOf, streamsOf } from '../written-traces.js';

/** A process whose main thread never loads the library; resolves once its workers have ended. */
async function onlyWorkers(together: number, after: number) {
  const started = new TracedProcess('only-workers.mjs', {
    hook: 'none',
    args: [String(together), String(after)],
    env: { TRACEWRIGHT_FORMATS: 'heph,ovni' },
  });
  const [, before, now] = await started.printed(/^held (\d+) (\d+)$/m);
  return { started, before: Number(before), now: Number(now) };
}

describe('a process of which only workers are traced', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'ends by %s as ever after the last of them',
    async (signal) => {
      const { started } = await onlyWorkers(0, 0);
      started.kill(signal);
      expect(await started.ended()).toMatchObject({ code: null, signal, stderr: '' });
      expect(faultsOf(started.directory)).toEqual([]);
      expect(requestsOf(started.directory)).toHaveLength(1);
    },
  );

  it('holds what it held before the others', async () => {
    const { started, before, now } = await onlyWorkers(0, 6);
    started.kill('SIGTERM');
    await started.ended();
    expect(now).toBe(before);
  });

  it('is traced once by workers that start together', async () => {
    const { started } = await onlyWorkers(4, 0);
    started.kill('SIGTERM');
    expect((await started.ended()).stderr).toBe('');
    expect(faultsOf(started.directory)).toEqual([]);
    const names = [...streamsOf(started.directory).keys()];
    expect(names.filter((name) => name.startsWith('worker '))).toHaveLength(5);
    expect(requestsOf(started.directory)).toHaveLength(5);
  });
});
