import { expect, it } from 'vitest';
import { TracedProcess } from './traced-process.js';

it('leaves a worker and a child process with an empty environment as they are, with one warning', async () => {
  const traced = new TracedProcess('empty-environments.cjs', { hook: '-r' });
  const { code, stdout, stderr } = await traced.ended();
  expect(code).toBe(0);
  expect(stdout).toBe('[] ');
  expect(stderr.match(/TracewrightWarning/g)).toHaveLength(1);
  expect(stderr).toContain('a worker with an empty environment is not part of this trace; to have');
});
