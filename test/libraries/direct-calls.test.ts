import { describe, expect, it } from 'vitest';
import { TracedProcess } from '../node/traced-process.js';
import { spansOf } from '../node/written-traces.js';

interface Printed {
  lines: string[];
  published: string[];
}

const script = new URL('fixtures/direct-calls.mjs', import.meta.url).href;

async function run(
  args: string[],
  env: Record<string, string> = {},
): Promise<Printed & { spans: string[] }> {
  const traced = new TracedProcess(script, { args, env: { TRACEWRIGHT_CONTEXT: 'on', ...env } });
  const { code, stdout, stderr } = await traced.ended();
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const printed = JSON.parse(stdout.slice(stdout.indexOf('{'))) as Printed;
  const spans = spansOf(traced.directory).map(({ description, attributes }) => {
    const { 'error.type': type = '' } = attributes;
    return `${description} ${type as string}`.trimEnd();
  });
  return { ...printed, spans };
}

/** Lines that say what is active, or what only a channel with subscribers checks. */
const DIFFERENT = /^(?:sync|promise|in callback|no callback|heard) /;
const same = (lines: string[]): string[] => lines.filter((line) => !DIFFERENT.test(line));

describe('calls of a tracing channel', () => {
  it('do what they do without the hook, whether they are published or not', async () => {
    const plain = await run([], { TRACEWRIGHT_LIBRARIES: 'off' });
    const direct = await run([]);
    const shared = await run(['subscribe']);
    expect(plain.lines.length).toBeGreaterThan(12);
    expect(same(direct.lines)).toEqual(same(plain.lines));
    expect(direct.lines).toEqual(shared.lines);
    expect(direct.lines).toContain('sync middleware work work');
    // Waiting for less than a millisecond may take more on a busy machine.
    const calls = ({ spans }: { spans: string[] }): string[] =>
      spans.filter((name) => name !== 'mysql pool').sort();
    expect(calls(direct)).toEqual(calls(shared));
    expect(direct.spans).toContain('mysql pool');
    expect(direct.spans.filter((name) => name.startsWith('GET'))).toHaveLength(6);
    expect(shared.published.filter((name) => name === 'node-redis:command:start')).toHaveLength(6);
  });

  it('are not heard below a span that is not recorded, unless somebody else listens', async () => {
    const unsampled = { OTEL_TRACES_SAMPLER: 'always_off' };
    const alone = await run([], unsampled);
    const shared = await run(['subscribe'], unsampled);
    // Who calls back gets back what was active: mysql2 has to ask.
    expect(alone.lines).toContain('heard false true false');
    expect(shared.lines).toContain('heard true true true');
    expect((await run([])).lines).toContain('heard true true true');
    const before = (lines: string[]): string[] => lines.filter((line) => !line.startsWith('heard'));
    expect(before(alone.lines)).toEqual(before(shared.lines));
    expect([...alone.spans, ...shared.spans]).toEqual([]);
  });
});
