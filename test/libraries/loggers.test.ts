import { describe, expect, it } from 'vitest';
import { runLibrary } from './traced-library.js';

type Line = Record<string, unknown>;

/** The lines of a logger by their messages, and the keys of the program's objects afterwards. */
function linesOf(stdout: string): { lines: Map<unknown, Line>; kept: string[][] } {
  const parsed = stdout
    .split('\n')
    .filter((line) => /^[[{]/.test(line))
    .map((line) => JSON.parse(line) as Line | string[]);
  const lines = parsed.filter((each): each is Line => !Array.isArray(each));
  const kept = parsed.filter((each) => Array.isArray(each));
  return { lines: new Map(lines.map((line) => [line['message'] ?? line['msg'], line])), kept };
}

describe.each(['bunyan', 'pino', 'winston'])('%s', (name) => {
  it.each(['newest', 'oldest'] as const)(
    'has the ids of the active span in the lines of its %s version',
    async (age) => {
      const env = { TRACEWRIGHT_LOGS: 'ids' };
      const { spans, stdout } = await runLibrary('loggers', age, name, env, [name]);
      const { lines, kept } = linesOf(stdout);
      const idsOf = (span: string): Line => {
        const { traceId, spanId } = spans.find((each) => each.name === span)!;
        return { trace_id: traceId, span_id: spanId, trace_flags: '03' };
      };
      const step = idsOf('step');
      expect(lines.get('outside')).not.toHaveProperty('trace_id');
      expect(lines.get('inside')).toMatchObject(step);
      expect(lines.get('of a child')).toMatchObject({ part: 'child', ...step });
      expect(lines.get('with fields')).toMatchObject({ own: 1, ...step });
      const chosen = lines.get('with an id');
      expect(chosen).toMatchObject({ trace_id: 'chosen' });
      expect(chosen).not.toHaveProperty('span_id');
      const failed = [...lines.values()].find(({ level }) => level === 50 || level === 'error');
      expect(failed).toMatchObject(step);
      expect(kept).toEqual([['own'], ['trace_id'], expect.not.arrayContaining(['trace_id'])]);
      for (const span of name === 'winston' ? spans.slice(1) : []) {
        // A line that had to wait was logged in another context.
        expect(lines.get(span.name)).toMatchObject(idsOf(span.name));
      }
    },
  );

  it('has none otherwise', async () => {
    const { stdout } = await runLibrary('loggers', 'newest', name, {}, [name]);
    expect(linesOf(stdout).lines.get('inside')).not.toHaveProperty('trace_id');
    expect(linesOf(stdout).lines.get('with an id')).toMatchObject({ trace_id: 'chosen' });
  });
});
