import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  addCpu,
  event,
  markLabel,
  markType,
  procFini,
  procInit,
  threadFree,
  threadInit,
  threadIsReady,
} from '../../../src/ovni/index.js';
import type { ProcessDirectory } from '../../../src/ovni/index.js';
import { readTraceDirectory } from '../../../src/ovni/read/trace-directory.js';
import { resultOfFixture, runFixture } from '../../fixtures/run-fixture.js';
import { bytesWithoutClocks, faultsOf, onlyStream, streamsOf } from '../stream-content.js';
import { temporaryFolder } from '../trace-building.js';

const execute = event('OHx');
const burst = event('OB.');
const end = event('OHe');

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
}

describe('a pid that comes back', () => {
  it.each([1, 3] as const)('gets a directory of its own, version %i', (version) => {
    const traceDir = join(temporaryFolder(), 'ovni');
    const places: ProcessDirectory[] = [];
    for (let run = 0; run < 3; run++) {
      places.push(procInit(1, 'node.1', 1, { traceDir, version }));
      threadInit(1);
      addCpu(0, 0);
      execute(-1, 1, 0);
      for (let i = 0; i < run; i++) burst();
      end();
      threadFree();
      procFini();
    }
    expect(places.map((place) => place.traceDir)).toEqual([
      traceDir,
      `${traceDir}.1`,
      `${traceDir}.2`,
    ]);
    places.forEach((place, run) => {
      expect(faultsOf(place.traceDir)).toEqual([]);
      expect(onlyStream(place.traceDir)).toHaveLength(2 + run);
    });
  });

  it('never mixes processes that start at the same moment', async () => {
    const traceDir = join(temporaryFolder(), 'ovni');
    const places = await Promise.all(
      [11, 22, 33].map((mark) =>
        resultOfFixture<ProcessDirectory>('ovni/same-pid.mjs', {
          input: { traceDir, version: 3, mark },
        }),
      ),
    );
    expect(new Set(places.map((place) => place.traceDir)).size).toBe(3);
    places.forEach((place, i) => {
      expect(faultsOf(place.traceDir)).toEqual([]);
      const numbers = onlyStream(place.traceDir)
        .filter(({ mcv }) => mcv === 'OB.')
        .map(({ payload }) => payload.readUInt32LE(0));
      expect(numbers).toEqual([[11, 22, 33][i]]);
    });
  });

  it('shares the directory with another pid of the loom; one of them names the CPUs', () => {
    const traceDir = join(temporaryFolder(), 'ovni');
    for (const pid of [1, 2]) {
      procInit(1, 'node.1', pid, { traceDir });
      threadInit(pid);
      addCpu(0, 0);
      execute(-1, pid, 0);
      end();
      threadFree();
      procFini();
    }
    expect(faultsOf(traceDir)).toEqual([]);
    expect(streamsOf(traceDir)).toHaveLength(2);
  });
});

describe('thread numbers', () => {
  it.each([1, 3] as const)(
    'one that was used is refused, the default moves on, version %i',
    (version) => {
      const traceDir = join(temporaryFolder(), 'ovni');
      procInit(1, 'node.1', 1, { traceDir, version });
      for (const tid of [5, undefined, undefined]) {
        threadInit(tid);
        addCpu(0, 0);
        execute(-1, -1, 0);
        end();
        threadFree();
      }
      expect(() => {
        threadInit(5);
      }).toThrow(
        expect.objectContaining({
          name: 'TracewrightError',
          code: 'ERR_ARGUMENT_RANGE',
          field: 'tid',
        }),
      );
      expect(threadIsReady()).toBe(false);
      procFini();
      expect(faultsOf(traceDir)).toEqual([]);
      expect(streamsOf(traceDir)).toHaveLength(3);
    },
  );
});

describe('streams that do not come about', () => {
  it.each([1, 3] as const)('without events they leave nothing, version %i', (version) => {
    const traceDir = join(temporaryFolder(), 'ovni');
    const { procDir } = procInit(1, 'node.1', 1, { traceDir, version });
    threadInit(1);
    addCpu(0, 0);
    threadFree();
    expect(filesIn(procDir)).toEqual(version === 1 ? ['metadata.json'] : []);
    procFini();
  });

  it.each([1, 3] as const)('where the ring cannot be made, version %i', (version) => {
    const folder = temporaryFolder();
    const traceDir = join(folder, 'ovni');
    const { procDir } = procInit(1, 'node.1', 1, {
      traceDir,
      version,
      ringDir: join(folder, 'nowhere'),
    });
    expect(() => {
      threadInit(1);
    }).toThrow(expect.objectContaining({ name: 'TracewrightError', code: 'ERR_SYSTEM' }));
    expect(threadIsReady()).toBe(false);
    expect(() => {
      burst();
    }).toThrow(expect.objectContaining({ code: 'ERR_ORDER' }));
    expect(filesIn(procDir)).toEqual(version === 1 ? ['metadata.json'] : []);
    // What was wrong can be put right.
    mkdirSync(join(folder, 'nowhere'));
    threadInit(1);
    addCpu(0, 0);
    execute(-1, 1, 0);
    end();
    threadFree();
    procFini();
    expect(faultsOf(traceDir)).toEqual([]);
  });

  it('where the directory cannot be made', () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    expect(() => procInit(1, 'node.1', 1, { traceDir: join(file, 'ovni') })).toThrow(
      expect.objectContaining({ name: 'TracewrightError', code: 'ERR_SYSTEM', field: 'traceDir' }),
    );
  });
});

it('a trace that is deleted under the process does not end the process', async () => {
  const folder = temporaryFolder();
  procInit(1, 'node.1', 1, { traceDir: join(folder, 'ovni'), version: 3 });
  threadInit(1);
  markType(1, 'x');
  rmSync(join(folder, 'ovni'), { recursive: true });
  // Its background write of the metadata fails; the test runner fails on what nobody catches.
  markLabel(1, 1, 'one');
  await new Promise((resolve) => setTimeout(resolve, 150));
  execute(-1, 1, 0);
  end();
  expect(() => {
    threadFree();
  }).toThrow(expect.objectContaining({ name: 'TracewrightError', code: 'ERR_SYSTEM' }));
  expect(threadIsReady()).toBe(false);
  procFini();
});

describe('threads that outlive procFini', () => {
  it.each([1, 3] as const)('end in the trace they began in, version %i', async (version) => {
    const traceDir = join(temporaryFolder(), 'ovni');
    const second = await resultOfFixture<ProcessDirectory>('ovni/late-thread.mjs', {
      input: { traceDir, version },
    });
    expect(faultsOf(traceDir)).toEqual([]);
    const { streams } = readTraceDirectory(traceDir);
    expect(streams.map(({ tid }) => tid)).toEqual([1, 2]);
    const marks = streams.map(({ metadata }) => [...metadata.marks.keys()]);
    expect(marks).toEqual([[1], [2]]);
    expect(streams.every(({ metadata }) => metadata.finished)).toBe(true);
    expect(second.traceDir).toBe(`${traceDir}.1`);
    expect(filesIn(second.procDir).filter((name) => name.startsWith('thread'))).toEqual([]);
  });

  it.each([1, 3] as const)('empty OVNI_TMPDIR all the same, version %i', async (version) => {
    const folder = temporaryFolder();
    const traceDir = join(folder, 'ovni');
    await resultOfFixture('ovni/late-thread.mjs', {
      input: { traceDir, version },
      env: { OVNI_TMPDIR: join(folder, 'fast-disk') },
    });
    expect(faultsOf(traceDir)).toEqual([]);
    expect(streamsOf(traceDir)).toHaveLength(2);
    const left = filesIn(join(folder, 'fast-disk')).filter(
      (name) => !/\/?loom\.node\.1$/.test(name),
    );
    expect(left).toEqual([]);
  });
});

describe('ends of the process that nobody announced', () => {
  it.each([
    ['return', 0, []],
    ['exit', 3, ['OHp']],
    ['throw', 1, ['OHp', 'OHw']],
    ['reject', 1, ['OHc']],
  ] as const)('%s: the stream is complete and ended', async (ending, code, state) => {
    const folder = temporaryFolder();
    const traceDir = join(folder, 'ovni');
    const outcome = await runFixture('ovni/ending.mjs', {
      input: { traceDir, version: 3, count: 50_000, ending, state },
    });
    expect(outcome.code).toBe(code);
    expect(faultsOf(traceDir)).toEqual([]);
    const numbers = onlyStream(traceDir)
      .filter(({ mcv }) => mcv === 'OB.')
      .map(({ payload }) => payload.readUInt32LE(0));
    expect(numbers).toEqual(Array.from({ length: 50_000 }, (_, n) => n));
    expect(filesIn(traceDir).filter((name) => name.endsWith('.ring'))).toEqual([]);
  });
});

describe('without code generation from text', () => {
  it.each([1, 3] as const)('the same calls give the same bytes, version %i', async (version) => {
    const runs: { bytes: Buffer; refused: string[] }[] = [];
    for (const execArgv of [[], ['--disallow-code-generation-from-strings']]) {
      const traceDir = join(temporaryFolder(), 'ovni');
      const refused = await resultOfFixture<string[]>('ovni/calls.mjs', {
        input: { traceDir, version },
        execArgv,
      });
      expect(faultsOf(traceDir)).toEqual([]);
      runs.push({ bytes: bytesWithoutClocks(streamsOf(traceDir)[0]!), refused });
    }
    expect(runs[0]!.bytes.equals(runs[1]!.bytes)).toBe(true);
    expect(runs[0]!.bytes.length).toBeGreaterThan(3_000_000);
    expect(runs[1]!.refused).toEqual(runs[0]!.refused);
    const strange = runs[0]!.refused.filter(
      (line) => !/^TracewrightError ERR_ARGUMENT_(TYPE|RANGE) [a-f]$/.test(line),
    );
    // 2^32 and -2^31 - 1 are outside every type; nothing was let through.
    expect(strange).toEqual([]);
  });
});

it('the background thread sleeps when there is nothing to do, and wakes up', async () => {
  const folder = temporaryFolder();
  const result = await resultOfFixture<{ idle: number; woken: boolean }>('idle.mjs', {
    input: { traceDir: join(folder, 'ovni'), hephFile: join(folder, 'trace.heph') },
  });
  expect(result).toEqual({ idle: 0, woken: true });
  expect(existsSync(join(folder, 'trace.heph'))).toBe(true);
  expect(readFileSync(join(folder, 'trace.heph')).length).toBeGreaterThan(23);
});
