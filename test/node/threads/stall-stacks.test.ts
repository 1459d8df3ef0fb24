import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { codeOfStack } from '../../../src/look/report/threads/stall-code.js';
import { readSpans } from '../../../src/spans/index.js';
import type { SpanRecord } from '../../../src/spans/index.js';
import { reportOn } from '../../look/report/recorded-service.js';
import { TracedProcess } from '../traced-process.js';
import { hephFiles } from '../written-traces.js';

const SHAPES = 'blocking-shapes.mjs';
const path = fileURLToPath(new URL(`../fixtures/${SHAPES}`, import.meta.url));
const lines = readFileSync(path, 'utf8').split('\n');
const env = { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_STALL_MS: '50' };
const STALL = 'event loop blocked';

/** `function script:line` of the line of a shape. */
function lineOf(name: string): string {
  const line = lines.findIndex((text) => text.endsWith(`// ${name}`)) + 1;
  return `${name} ${path}:${line}`;
}

async function spansOf(service: TracedProcess): Promise<SpanRecord[]> {
  const spans: SpanRecord[] = [];
  for await (const span of readSpans(hephFiles(service.directory))) spans.push(span);
  return spans;
}

/** The stacks of the longest stall while a span of this name was open. */
function stacksOf(spans: readonly SpanRecord[], name: string): string[] {
  const shape = spans.find((span) => span.name === name)!;
  const [longest] = spans
    .filter((span) => span.name === STALL && span.start >= shape.start && span.end <= shape.end)
    .sort((a, b) => Number(b.end - b.start - (a.end - a.start)));
  const { 'code.stacktrace': most, 'eventloop.stacks': all } = longest!.attributes;
  return (all as string[] | undefined) ?? [most as string];
}

function codeOf(stack: string): string {
  const { function: name, line, isNative } = codeOfStack(stack)!;
  return isNative ? `below ${name}` : `${name} ${line}`;
}

describe.each(['main', 'worker'])('stacks of stalls of a %s thread', (where) => {
  it('name the function and line that block, or the one that called native code', async () => {
    const loops = ['callingLoop', 'backtrack', 'longSort', 'sleepInWait'];
    const native = ['hash', 'parseThenCall'];
    const args = [where, ...loops, ...native, 'turning'];
    const service = new TracedProcess(SHAPES, { env, args });
    expect(await service.ended()).toMatchObject({ code: 0, stderr: '' });
    const spans = await spansOf(service);
    for (const name of ['callingLoop', 'backtrack', 'sleepInWait']) {
      expect(stacksOf(spans, name).map(codeOf), name).toContain(lineOf(name));
    }
    // Mostly in what it calls for each comparison.
    const sorted = stacksOf(spans, 'longSort').map((stack) => codeOfStack(stack)?.function);
    expect(sorted).toContain('compare');
    expect(stacksOf(spans, 'longSort').join()).toContain(lineOf('longSort').replace(' ', ' ('));
    // Node's own function has called native code, and is still there when V8 answers.
    expect(stacksOf(spans, 'hash').map(codeOf)).toContain('below hash');
    // One that ends in native code is gone by then: a caller is named, as one above it.
    const parsed = stacksOf(spans, 'parseThenCall').map(codeOf);
    expect(parsed.filter((code) => !/^below (parseThenCall|run)$/.test(code))).toEqual([]);
    const turning = spans.find(({ name }) => name === 'turning')!;
    const stalls = spans.filter(({ name, start }) => name === STALL && start > turning.start);
    expect(stalls.filter(({ attributes }) => attributes['eventloop.cause'] === 'code')).toEqual([]);
  });
});

describe('stacks of stalls', () => {
  it('are added up by line in the report', async () => {
    const service = new TracedProcess(SHAPES, {
      env,
      args: ['main', 'callingLoop', 'callingLoop', 'sleepInWait'],
    });
    await service.ended();
    const { report } = await reportOn(hephFiles(service.directory));
    const found = report.interruptions.lines.map(({ function: name, line }) => `${name} ${line}`);
    expect(found).toEqual(expect.arrayContaining([lineOf('callingLoop'), lineOf('sleepInWait')]));
    const line = report.interruptions.lines.find((each) => each.function === 'callingLoop')!;
    expect(line).toMatchObject({ isNative: false, caller: null });
    // One of the two may have had no CPU: then its code is not the reason.
    expect([1, 2]).toContain(line.count);
    expect(line.delayed).toBe(line.count);
    expect(line.total).toBeGreaterThan(line.count * 250e6);
    const memory = report.memory.map(({ kind, thread, hourly }) => [kind, thread, hourly]);
    expect(memory.sort()).toEqual([
      ['external', 'main', null],
      ['heap', 'main', null],
      ['resident', 'main', null],
    ]);
    for (const { first, last, max } of report.memory) {
      expect(Math.max(first, last)).toBeLessThanOrEqual(max);
      expect(Math.min(first, last)).toBeGreaterThan(0);
    }
  });

  it('of a process that was killed meanwhile are in its trace', async () => {
    const service = new TracedProcess('blocked-service.mjs', { env });
    await service.get('/nothing');
    service.get('/endless').catch(() => undefined);
    await service.printed(/endless blocks/);
    await pause(2000);
    service.kill('SIGKILL');
    await service.ended();
    const command = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
    expect(spawnSync(process.execPath, [command, 'recover', service.directory]).status).toBe(0);
    const stall = (await spansOf(service)).findLast(({ name }) => name === STALL)!;
    expect(stall.unfinished).toBe(true);
    const { function: name, line } = codeOfStack(stall.attributes['code.stacktrace'])!;
    expect([name, line.replace(/.*\/|:\d+$/g, '')]).toEqual(['endless', 'blocked-service.mjs']);
  });

  it('are not taken with TRACEWRIGHT_STALL_STACKS=0, and not recorded if they are redacted', async () => {
    const settings = [{ TRACEWRIGHT_STALL_STACKS: '0' }, { TRACEWRIGHT_REDACT_DROP: 'code.*' }];
    for (const more of settings) {
      const service = new TracedProcess(SHAPES, {
        env: { ...env, ...more },
        args: ['main', 'callingLoop'],
      });
      await service.ended();
      const stalls = (await spansOf(service)).filter(({ name }) => name === STALL);
      expect(stalls.length).toBeGreaterThan(0);
      expect(stalls.filter(({ attributes }) => 'code.stacktrace' in attributes)).toEqual([]);
    }
  });
});

describe('the code of a stack', () => {
  const code = (...stack: string[]) => codeOfStack(stack.join('\n'));

  it('is the first frame of the program, with who called a package', () => {
    expect(
      code(
        'at readSync (node:fs:736:3)',
        'at load (/app/node_modules/x/index.js:4:5)',
        'at handler (/app/orders.js:9:1)',
      ),
    ).toEqual({
      function: 'load',
      line: '/app/node_modules/x/index.js:4',
      isNative: false,
      caller: '/app/orders.js:9',
    });
    expect(code('(native code)', 'at Shop.save (/app/a b (c).js:4:5)')).toEqual({
      function: 'Shop.save',
      line: '/app/a b (c).js:4',
      isNative: true,
      caller: null,
    });
    expect(code('at /app/index.js:1:2')).toMatchObject({
      function: null,
      line: '/app/index.js:1',
    });
    expect(code('at run (node:internal/x:1:2)')).toMatchObject({ line: 'node:internal/x:1' });
  });

  it('is unknown where a stack has no frame', () => {
    for (const stack of ['', '(native code)', 'at ', 'at :', 'nothing\nat (', '('.repeat(1e5)]) {
      expect(codeOfStack(stack)).toBe(null);
    }
  });
});
