import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tracewright } from '../../cli/run-command.js';
import { TracedProcess } from '../traced-process.js';
import { spansOf } from '../written-traces.js';

/** All that a run has written, its rings too. */
function bytesOf(directory: string): string {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    .join('\n');
}

/** A service that gets a request of each path, and is killed or ended while it is still open. */
async function served(env: Record<string, string>, paths: string[]): Promise<TracedProcess> {
  const service = new TracedProcess('service.mjs', { env });
  const port = await service.port();
  for (const path of paths) await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  service.kill('SIGTERM');
  return service;
}

describe.each(['on', 'off'])('requests with TRACEWRIGHT_CONTEXT=%s', (context) => {
  it('have their paths redacted, but not their hosts', async () => {
    const env = { TRACEWRIGHT_CONTEXT: context, TRACEWRIGHT_REDACT_PATHS: String.raw`\d+=:id` };
    const service = await served(env, ['/users/4711', '/users/4711?a=4711', '/users/4711']);
    await service.ended();
    const spans = spansOf(service.directory);
    expect(spans.map(({ attributes }) => attributes['url.path'])).toEqual([
      '/users/:id',
      '/users/:id',
      '/users/:id',
    ]);
    expect(bytesOf(service.directory)).not.toContain('/users/4711');
    if (context === 'on') expect(spans[0]!.attributes['server.address']).toBe('127.0.0.1');
  });

  it('have no path at all if a pattern is wrong, and it is said', async () => {
    const env = { TRACEWRIGHT_CONTEXT: context, TRACEWRIGHT_REDACT_PATHS: '(wrong=x' };
    const service = await served(env, ['/secret/1', '/secret/2', '/secret/3']);
    const { stderr } = await service.ended();
    expect(stderr.match(/"\(wrong"/g)).toHaveLength(1);
    expect(spansOf(service.directory)).toHaveLength(3);
    expect(bytesOf(service.directory)).not.toContain('secret');
    const { stdout } = tracewright('report', service.directory);
    expect(stdout.replace(/\s+/g, ' ')).toContain('no paths recorded');
    expect(stdout).toContain('(wrong');
    const json = tracewright('report', service.directory, '--json').stdout;
    expect(json).toContain('no paths recorded');
  });
});
