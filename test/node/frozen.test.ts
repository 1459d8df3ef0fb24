import { expect, it } from 'vitest';
import { readSpansOf } from '../../src/spans/read/read-spans.js';
import { TracedProcess } from './traced-process.js';

/** The paths of the requests that a run has recorded so far. */
async function served(directory: string): Promise<unknown[]> {
  const paths: unknown[] = [];
  for await (const { kind, attributes } of readSpansOf([directory], {})) {
    if (kind === 'server') paths.push(attributes['url.path']);
  }
  return paths;
}

it('a process that its platform freezes has recorded what it answered, and goes on', async () => {
  const service = new TracedProcess('context-service.mjs', { env: { TRACEWRIGHT_CONTEXT: 'on' } });
  await service.serve('/ids');
  service.kill('SIGSTOP');
  await expect.poll(() => served(service.directory)).toEqual(['/ids']);
  service.kill('SIGCONT');
  await service.serve('/http');
  service.kill('SIGSTOP');
  // Nothing wakes it again.
  service.kill('SIGKILL');
  await service.ended();
  expect((await served(service.directory)).sort()).toEqual(['/http', '/ids', '/inner']);
});
