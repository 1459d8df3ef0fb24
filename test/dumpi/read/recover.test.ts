import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from 'vitest';
import { core } from '../../../src/core/addon.js';
import { RingFile } from '../../../src/core/recovery/ring-file.js';
import { GETS_END } from '../../../src/core/unfinished-target.js';
import { callNamed } from '../../../src/dumpi/calls.js';
import { readCalls } from '../../../src/dumpi/read/reader.js';
import { recoverTrace } from '../../../src/dumpi/read/recover.js';
import { readSections } from '../../../src/dumpi/read/section-reader.js';
import { fixturePath, runFixture } from '../../fixtures/run-fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-dumpi-recovery-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const probe = callNamed('MPI_Iprobe')!.label;

/** Everything that the fixture has said it recorded. */
function expectWhole(path: string, count: number): void {
  const sends: number[] = [];
  let probes = 0;
  for (const { name, fields } of readCalls(path)) {
    if (name === 'MPI_Send') sends.push((fields as { count: number }).count);
    if (name === 'MPI_Iprobe') probes += 1;
  }
  expect(sends).toEqual(Array.from({ length: count }, (_, n) => n));
  const { footer, header, keyvals, functionNames, counterLabels, datatypeSizes } =
    readSections(path);
  expect(footer!.calls[0]).toBe(count);
  expect([footer!.calls[probe], footer!.ignored[probe]]).toEqual([count, count - probes]);
  expect(probes).toBe(Math.floor(count / 2));
  expect([footer!.calls[290], footer!.ignored[290]]).toEqual([2 * count + 1, count - probes]);
  expect(header!.version).toEqual([13, 0, 0]);
  expect(keyvals).toEqual([['seed', '42']]);
  expect(functionNames.map(({ name }) => name)).toEqual([
    'ANNOTATION: begin',
    'work',
    ...Array.from({ length: Math.ceil(count / 1000) }, (_, i) => `ANNOTATION: at ${i * 1000}`),
  ]);
  expect(counterLabels).toEqual([]);
  expect(datatypeSizes).toHaveLength(28);
}

function pathIn(stdout: string): string {
  return (JSON.parse(stdout) as { path: string }).path;
}

describe('a rank whose process ends without closing it', () => {
  it.each([
    ['exit', 0],
    ['throw', 1],
    ['return', 0],
  ])('by %s: is complete', async (end, code) => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const outcome = await runFixture('dumpi-killed.mjs', { input: { directory, count: 50, end } });
    expect(outcome.code).toBe(code);
    expectWhole(pathIn(outcome.stdout), 50);
    expect(readdirSync(directory)).toHaveLength(2);
  });

  it('is complete where functions may not be made from text', async () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const outcome = await runFixture('dumpi-killed.mjs', {
      input: { directory, count: 50, end: 'exit' },
      execArgv: ['--disallow-code-generation-from-strings'],
    });
    expectWhole(pathIn(outcome.stdout), 50);
  });

  it.each([10, 50_000])('by SIGKILL after %i calls: is complete once recovered', async (count) => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const input = { directory, count, end: 'kill' };
    const { signal, stdout } = await runFixture('dumpi-killed.mjs', { input });
    expect(signal).toBe('SIGKILL');
    const path = pathIn(stdout);
    expect(() => readSections(path)).toThrow('index');
    const { streams, faults } = recoverTrace(count === 10 ? path : directory);
    expect(faults).toEqual([]);
    expect(streams.map((stream) => stream.path)).toEqual([path]);
    expectWhole(path, count);
    expect(readdirSync(directory)).toHaveLength(2);
    expect(recoverTrace(directory).streams).toEqual([]);
  });

  it('by SIGKILL late in a turn of its seconds: has the true times once recovered', async () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const now = Math.floor(Number(process.hrtime.bigint() / 1_000_000_000n));
    const input = { directory, count: 3, end: 'kill', wallBias: now - 2 * 65_536 - 65_500 };
    const { stdout } = await runFixture('dumpi-killed.mjs', { input });
    const path = pathIn(stdout);
    expect(recoverTrace(path).faults).toEqual([]);
    const own = [...readCalls(path)].filter(({ name }) => name.startsWith('MPI_'));
    expect(own.length).toBeGreaterThan(3);
    for (const { wall } of own) {
      expect(wall!.start.seconds).toBeGreaterThanOrEqual(now);
      expect(wall!.stop.seconds - now).toBeLessThan(600);
    }
  });

  it('whose ring lies elsewhere', async () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const ringDir = mkdtempSync(join(folder, 'rings-'));
    const input = { directory, ringDir, count: 100, end: 'kill' };
    const path = pathIn((await runFixture('dumpi-killed.mjs', { input })).stdout);
    recoverTrace(directory, { ringDir });
    expectWhole(path, 100);
    expect(readdirSync(ringDir)).toEqual([]);
  });

  it('can be recovered again after any interruption', async () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const input = { directory, count: 3000, end: 'kill' };
    const path = pathIn((await runFixture('dumpi-killed.mjs', { input })).stdout);
    const before = new Map(
      readdirSync(directory).map((name) => [name, readFileSync(join(directory, name))]),
    );
    recoverTrace(directory);
    const whole = readFileSync(path);
    // As if the recovery had been killed before it took its leftovers away, in their order.
    const leftovers = [...before.keys()].filter((name) => name.startsWith('.'));
    expect(leftovers.map((name) => name.replace(/^.*\.bin/, '')).sort()).toEqual([
      '.json',
      '.names',
      '.names.ring',
      '.ring',
    ]);
    const order = ['.json', '.names.ring', '.names'];
    const isCallsRing = (name: string) => name.endsWith('.bin.ring');
    for (let taken = 0; taken <= order.length; taken++) {
      for (const name of leftovers) {
        if (order.slice(0, taken).some((end) => name.endsWith(`.bin${end}`))) continue;
        writeFileSync(join(directory, name), before.get(name)!);
      }
      const ring = RingFile.open(leftovers.map((name) => join(directory, name)).find(isCallsRing)!);
      if (!(ring instanceof RingFile)) throw new Error('the ring is not ready');
      ring.noteEnd();
      ring.close();
      // What it had written by then is all there, or half.
      if (taken === 0) writeFileSync(path, whole.subarray(0, whole.length - 100));
      expect(recoverTrace(directory).faults).toEqual([]);
      expect(readFileSync(path).equals(whole)).toBe(true);
      expect(readdirSync(directory)).toHaveLength(2);
    }
  });

  it('while it wrote the end of the file: is complete once recovered', async () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const input = { directory, count: 300, end: 'kill' };
    const path = pathIn((await runFixture('dumpi-killed.mjs', { input })).stdout);
    const names = readdirSync(directory).filter((name) => name.startsWith('.'));
    const before = new Map(names.map((name) => [name, readFileSync(join(directory, name))]));
    recoverTrace(directory);
    const whole = readFileSync(path);
    // `close` had written all calls, and begun with what follows them.
    const page = before.get(names.find((name) => name.endsWith('.bin.ring'))!)!;
    page.copy(page, core.control.tail, core.control.head, core.control.head + 8);
    for (const [name, bytes] of before) writeFileSync(join(directory, name), bytes);
    writeFileSync(path, whole.subarray(0, whole.length - 100));
    expect(recoverTrace(directory).faults).toHaveLength(1);
    page.fill(GETS_END, core.control.unfinished, core.control.unfinished + 1);
    for (const [name, bytes] of before) writeFileSync(join(directory, name), bytes);
    expect(recoverTrace(directory).faults).toEqual([]);
    expect(readFileSync(path).equals(whole)).toBe(true);
    expect(readdirSync(directory)).toHaveLength(2);
  });

  it('while it opened the rank: leaves nothing', async () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const input = { directory, count: 0, end: 'kill' };
    const path = pathIn((await runFixture('dumpi-killed.mjs', { input })).stdout);
    // The ring of a process that had come no further than to open it.
    const ring = readdirSync(directory).find((name) => name.endsWith('.bin.ring'))!;
    const page = readFileSync(join(directory, ring));
    page.fill(0, core.control.head, core.control.head + 8);
    page.fill(0, core.control.tail, core.control.tail + 8);
    for (const name of readdirSync(directory)) {
      if (name.startsWith('.')) rmSync(join(directory, name));
    }
    writeFileSync(join(directory, ring), page);
    writeFileSync(path, readFileSync(path).subarray(0, 16));
    expect(recoverTrace(directory)).toMatchObject({ streams: [], emptied: [path], faults: [] });
    expect(readdirSync(directory).filter((name) => !name.endsWith('.meta'))).toEqual([]);
  });

  it('because its worker was terminated: is complete once recovered, by the living process too', async () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const argument = JSON.stringify({ directory, count: 200, end: 'wait' });
    const worker = new Worker(
      `process.argv[2] = ${JSON.stringify(argument)};
       import(${JSON.stringify(fixturePath('dumpi-killed.mjs'))}).then(() => {
         require('node:worker_threads').parentPort.postMessage('ready');
         for (;;);
       });`,
      { eval: true },
    );
    await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    await worker.terminate();
    expect(recoverTrace(directory).faults).toEqual([]);
    const [file] = readdirSync(directory).filter((name) => name.endsWith('.bin'));
    expectWhole(join(directory, file!), 200);
  });

  it('is left alone while its process is alive', async () => {
    const { openRank } = await import('../../../src/dumpi/write/rank.js');
    const directory = mkdtempSync(join(folder, 'run-'));
    const rank = openRank({ directory, rank: 0, size: 1, config: {} });
    expect(() => recoverTrace(directory)).toThrow(expect.objectContaining({ code: 'ERR_ORDER' }));
    rank.log('MPI_Barrier', { comm: 2 });
    rank.close();
    expect([...readCalls(rank.path)]).toHaveLength(1);
    expect(existsSync(rank.path)).toBe(true);
  });
});
