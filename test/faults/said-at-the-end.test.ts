import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSpans } from '../../src/spans/index.js';
import { TracedProcess } from '../node/traced-process.js';

const REQUESTS = 20;
const MORE = 500;

/** A service whose trace directory is deleted between two series of requests. */
function deleting(env: Record<string, string> = {}, signal?: string): TracedProcess {
  return new TracedProcess('self-serving.mjs', {
    args: [JSON.stringify({ requests: REQUESTS, remove: true, more: MORE, signal })],
    env: { TRACEWRIGHT_QUIET: '0', TRACEWRIGHT_FORMATS: 'heph', ...env },
  });
}

const LOST = /^tracewright: the trace \S+\.heph lacks (\d+) events, which are lost$/gm;

describe('what a process says at its end of a directory that was deleted', () => {
  it.each([undefined, 'SIGTERM'])(
    'names the target and the number of events (%s)',
    async (signal) => {
      const { stderr } = await deleting({}, signal).ended();
      const [said, ...others] = [...stderr.matchAll(LOST)];
      expect(others).toEqual([]);
      // A request here is two spans: of who sends it and of who serves it.
      expect(Number(said?.[1])).toBeGreaterThanOrEqual(2 * MORE);
    },
  );

  it('is nothing where the service wants quiet', async () => {
    expect((await deleting({ TRACEWRIGHT_QUIET: '1' }).ended()).stderr).not.toContain('lacks');
  });

  it('is nothing where the trace goes on in a new directory', async () => {
    const service = deleting({ TRACEWRIGHT_MAX_BYTES: String(64 << 20) });
    const { stderr } = await service.ended();
    expect(stderr).not.toContain('lacks');
    const heph = join(service.directory, 'heph');
    expect(existsSync(heph)).toBe(true);
    let spans = 0;
    for await (const span of readSpans(readdirSync(heph).map((name) => join(heph, name)))) {
      expect(span.name).not.toBe('');
      spans++;
    }
    expect(spans).toBeGreaterThanOrEqual(2 * MORE);
  });
});
