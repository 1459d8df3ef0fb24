import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SpanRecord } from '../../../src/spans/index.js';
import { TracedProcess } from '../traced-process.js';
import { faultsOf } from '../written-traces.js';
import { dependencies, install, place, recordedIn, treeOf } from './installed.js';

/** Runs a program to its end. */
async function run(directory: string, file: string) {
  const program = new TracedProcess(join(directory, file), {
    cwd: directory,
    env: { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_INJECT: 'hono,bullmq' },
  });
  const { code, stdout, stderr } = await program.ended();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(faultsOf(program.directory)).toEqual([]);
  return { stdout, spans: await recordedIn(program.directory) };
}

/** The spans of the trace that contains a span of this name. */
function traceWith(spans: readonly SpanRecord[], name: string): SpanRecord[] {
  const [found] = spans.filter((span) => span.name === name);
  return spans.filter(({ traceId }) => traceId === found!.traceId);
}

describe.skipIf(place === undefined)('spans of', () => {
  it('BullMQ go from the job that is added to the worker', async () => {
    const directory = install('bull', ['bull-queue.mjs'], dependencies('bullmq', 'bullmq-otel'));
    const { stdout, spans } = await run(directory, 'bull-queue.mjs');
    expect(stdout).toBe('done\n');
    const trace = traceWith(spans, 'order');
    const queue = /tracewright-test-\d+/g;
    expect(treeOf(trace).map((line) => line.replaceAll(queue, 'QUEUE'))).toEqual([
      'the-service: order',
      '  bullmq: add QUEUE.mail',
      '    bullmq: process QUEUE',
      '      the-service: work',
      '      bullmq: complete QUEUE',
    ]);
    const byKind = (kind: string) => trace.filter((span) => span.kind === kind);
    expect(byKind('producer')).toHaveLength(1);
    expect(byKind('consumer')).toHaveLength(1);
  });

  // Version 7 needs Node 22.
  it.skipIf(process.versions.node.startsWith('20.'))(
    'the AI SDK 7 contain the request to the model',
    async () => {
      const files = ['model-server.mjs', 'model-call-7.mjs'];
      const directory = install('model-7', files, dependencies('ai', '@ai-sdk/otel'));
      const { stdout, spans } = await run(directory, 'model-call-7.mjs');
      expect(stdout).toBe('Four.\n');
      expect(treeOf(spans)).toEqual([
        'gen_ai: invoke_agent small',
        '  gen_ai: step 1',
        '    gen_ai: chat small',
        '      tracewright/register: POST',
        '        tracewright/register: POST',
      ]);
      const chat = spans.find(({ name }) => name === 'chat small')!;
      expect(chat.attributes).toMatchObject({ 'gen_ai.request.model': 'small' });
    },
  );

  it('the AI SDK 6 contain the request to the model', async () => {
    const files = ['model-server.mjs', 'model-call-6.mjs'];
    const directory = install('model-6', files, dependencies('ai-6'));
    const { stdout, spans } = await run(directory, 'model-call-6.mjs');
    expect(stdout).toBe('Four.\n');
    expect(treeOf(spans)).toEqual([
      'ai: ai.generateText',
      '  ai: ai.generateText.doGenerate',
      '    tracewright/register: POST',
      '      tracewright/register: POST',
    ]);
    expect(
      spans.find(({ name }) => name === 'ai.generateText.doGenerate')!.attributes,
    ).toMatchObject({ 'gen_ai.request.model': 'small' });
  });

  it('Prisma are below the span that asks', async () => {
    const directory = install(
      'prisma',
      ['prisma', 'prisma-query.mjs'],
      dependencies('@prisma/instrumentation'),
    );
    const bin = join(place!, 'node_modules', 'prisma', 'build', 'index.js');
    const { status, stderr } = spawnSync(
      process.execPath,
      [bin, 'generate', '--schema', 'prisma/schema.prisma'],
      {
        cwd: directory,
        encoding: 'utf8',
        // A client without an engine needs none to be generated, but npm would fetch one.
        env: {
          ...process.env,
          CHECKPOINT_DISABLE: '1',
          PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        },
      },
    );
    expect(stderr).not.toMatch(/error/i);
    expect(status).toBe(0);
    const { stdout, spans } = await run(directory, 'prisma-query.mjs');
    expect(stdout).toBe('found 0\n');
    expect(treeOf(traceWith(spans, 'load'))).toEqual([
      'the-service: load',
      '  prisma: prisma:client:operation',
      '    prisma: prisma:client:serialize',
      '    prisma: prisma:client:compile',
      '    prisma: prisma:client:db_query',
    ]);
  });
});
