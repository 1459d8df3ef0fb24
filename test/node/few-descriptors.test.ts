import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSpans } from '../../src/spans/index.js';
import { TracedProcess } from './traced-process.js';
import type { Ending } from './traced-process.js';

const REQUESTS = 40;
// A thread has a stream of stalls only once its loop was blocked.
const input = [JSON.stringify({ requests: REQUESTS, stallMs: 150 })];
const watching = { TRACEWRIGHT_STALL_MS: '50', TRACEWRIGHT_GC_MS: '0' };

function withLimit(limit: number, env: Record<string, string> = {}): TracedProcess {
  const wrapper = ['sh', '-c', `ulimit -n ${limit}; exec "$@"`, 'sh'];
  return new TracedProcess('self-serving.mjs', { args: input, wrapper, env });
}

function outcome({ stdout, stderr }: Ending): { served: number; descriptors: number } {
  try {
    return JSON.parse(stdout) as { served: number; descriptors: number };
  } catch {
    throw new Error(stderr);
  }
}

describe.runIf(process.platform === 'linux')('descriptors of a traced service', () => {
  it('are at most six more than without the hook', async () => {
    const [plain, traced] = await Promise.all(
      (['none', '--import'] as const).map((hook) =>
        new TracedProcess('self-serving.mjs', { args: input, hook, env: watching }).ended(),
      ),
    );
    expect(outcome(traced!).descriptors - outcome(plain!).descriptors).toBeLessThanOrEqual(6);
  });

  it('where too few are free, nothing is recorded, which is said once; all requests are served', async () => {
    const service = withLimit(30);
    const ending = await service.ended();
    expect(ending).toMatchObject({ code: 0, signal: null });
    expect(outcome(ending).served).toBe(REQUESTS);
    expect(ending.stderr.match(/is not traced: \d+ file descriptors are free/g)).toHaveLength(1);
    expect(existsSync(service.directory)).toBe(false);
  });

  it('where just enough are free, all requests are recorded', async () => {
    const service = withLimit(64, watching);
    const ending = await service.ended();
    expect(ending).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(outcome(ending).served).toBe(REQUESTS);
    const names = readdirSync(service.directory, { recursive: true, encoding: 'utf8' });
    const heph = names.filter((name) => name.endsWith('.heph'));
    expect(heph).toHaveLength(1);
    const served = [];
    for await (const span of readSpans(join(service.directory, heph[0]!))) {
      if (span.name === 'GET' || span.kind === 'server') served.push(span);
    }
    expect(served.length).toBeGreaterThanOrEqual(REQUESTS);
  });

  it('where it must be traced, too few are an error', async () => {
    const { code, stderr } = await withLimit(30, { TRACEWRIGHT_REQUIRED: '1' }).ended();
    expect(code).toBe(1);
    expect(stderr).toContain('file descriptors are free');
  });
});
