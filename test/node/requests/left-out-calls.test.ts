import { expect, it } from 'vitest';
import { readSpans } from '../../../src/spans/index.js';
import { TracedProcess } from '../traced-process.js';
import { hephFiles } from '../written-traces.js';

it.each([[[]], [['sdk']]])(
  'uploads of agents, and what is not to be traced, are left out: %j',
  async (args) => {
    const program = new TracedProcess('left-out-calls.mjs', {
      args,
      env: { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_QUIET: '1' },
    });
    const { code, stdout, stderr } = await program.ended();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const calls: string[] = [];
    for await (const { kind, attributes } of readSpans(hephFiles(program.directory))) {
      const method = String(attributes['http.request.method']);
      if (kind === 'client') {
        calls.push(`${method} ${new URL(String(attributes['url.full'])).pathname}`);
      }
    }
    expect(calls.sort()).toEqual([
      'DELETE /api/4/envelope/',
      'DELETE /api/4/envelope/',
      'POST /kept',
      'POST /kept',
    ]);
    const traced = ['/kept', '/kept', '/api/4/envelope/', '/api/4/envelope/'];
    expect(JSON.parse(stdout)).toEqual(traced);
  },
);
