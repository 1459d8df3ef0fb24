import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { SpanRecord } from '../../src/spans/index.js';
import { reportOn } from '../look/report/recorded-service.js';
import { hephFiles } from '../node/written-traces.js';
import { below, childrenOf, runLibrary, treeOf } from './traced-library.js';

/** A text without line breaks and indentation. */
const textOf = (path: string): string =>
  readFileSync(new URL(path, import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');

const runs = ['oldest', 'newest'] as const;

describe('tasks of piscina', () => {
  it.each(runs.flatMap((age) => [[age, 'import'] as const, [age, 'require'] as const]))(
    'are below the span that gave them to the pool: the %s version, by %s',
    async (age, way) => {
      const { spans, stdout } = await runLibrary('piscina', age, 'piscina', {}, [way]);
      // All six ran at the same time, three in each of two threads.
      expect(stdout).toContain('threads 2\n');
      const threads = new Map<SpanRecord['thread'], number>();
      for (const order of [0, 1, 2, 3, 4, 5]) {
        const [job, ...others] = below(spans, `order ${order}`);
        expect(others).toEqual([]);
        expect(job).toMatchObject({ name: 'job', kind: 'consumer', status: { code: 'unset' } });
        const [step, ...more] = childrenOf(spans, job!);
        expect(more).toEqual([]);
        expect(step).toMatchObject({ name: 'step', traceId: job!.traceId });
        expect(step!.attributes).toEqual({ order });
        expect(step!.thread).toBe(job!.thread);
        threads.set(job!.thread, (threads.get(job!.thread) ?? 0) + 1);
      }
      expect([...threads.values()]).toEqual([3, 3]);
      const callers = spans.filter(({ name }) => name.startsWith('order '));
      expect(new Set(callers.map(({ traceId }) => traceId)).size).toBe(6);
      for (const { traceId, thread } of callers) {
        expect(threads.has(thread)).toBe(false);
        expect(spans.filter((span) => span.traceId === traceId)).toHaveLength(3);
      }
    },
  );

  it.each(runs)('keep no worker busy that waits for them: the %s version', async (age) => {
    const { spans, directory } = await runLibrary('piscina-idle', age, 'piscina');
    expect(spans.filter(({ name }) => name === 'task')).toHaveLength(15);
    const stalls = spans.filter(({ name }) => name === 'event loop blocked');
    expect(stalls.map(({ attributes }) => attributes['eventloop.cause'])).not.toContain('wait');
    const { report } = await reportOn(hephFiles(directory));
    const workers = report.threads.filter(({ thread }) => thread !== 'main');
    // It sleeps for more than nine tenths of the time, and loads its program before.
    expect(workers.map(({ utilisation }) => utilisation! < 0.4)).toEqual([true]);
  });

  it.each(runs)('fail, are aborted, or have no caller: the %s version', async (age) => {
    const { spans, stdout } = await runLibrary('piscina', age, 'piscina', {}, ['import']);
    expect(stdout).toContain('failing: TypeError wanted\n');
    expect(stdout).toContain('aborted: AbortError The task has been aborted\n');
    const byName = (name: string): SpanRecord => spans.find((span) => span.name === name)!;

    const failed = [byName('failing'), ...below(spans, 'failing')];
    expect(failed.map(({ name }) => name)).toEqual(['failing', 'job']);
    for (const { status, events } of failed) {
      expect(status).toEqual({ code: 'error', message: 'wanted' });
      expect(events[0]!.attributes).toMatchObject({ 'exception.type': 'TypeError' });
    }
    expect(childrenOf(spans, failed[1]!)).toEqual([]);

    // Its thread is terminated, so its span stays open. It was going on when the pool gave it up.
    expect(byName('aborted').status.code).toBe('error');
    const [aborted, ...others] = below(spans, 'aborted');
    expect(others).toEqual([]);
    expect(aborted).toMatchObject({ name: 'job', unfinished: true });
    expect(spans.filter(({ unfinished }) => unfinished)).toEqual([aborted]);

    const alone = spans.filter(({ name, parentSpanId }) => name === 'job' && !parentSpanId);
    expect(alone).toHaveLength(1);
    expect(treeOf(spans, alone[0]!)).toEqual(['step']);
    expect(childrenOf(spans, alone[0]!)[0]!.attributes).toEqual({ order: 6 });
  });
});

describe('the lines of the guide', () => {
  const guide = textOf('../../docs/propagation.md');

  it.each(['carried-by-hand', 'piscina', 'piscina-tasks'])('are those of %s.mjs', (fixture) => {
    const program = textOf(`fixtures/${fixture}.mjs`);
    const lines = {
      'carried-by-hand': [
        "withSpan('job', {}, () => run(job), { kind: 'consumer', parent: extract(trace) ?? null })",
      ],
      piscina: ['return pool.run({ job, trace: inject({}) });'],
      'piscina-tasks': [
        "export default ({ job, trace }) => withSpan('job', {}, () => run(job), { kind: 'consumer', parent: extract(trace) ?? null });",
      ],
    }[fixture]!;
    for (const line of lines) {
      expect(program).toContain(line);
      expect(guide).toContain(line);
    }
  });
});
