import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openRank } from '../../src/dumpi/index.js';
import { readKernelEvents } from '../../src/laplace/read/kernel-reader.js';
import { openKernelEvents } from '../../src/laplace/index.js';
import { openLookIndex } from '../../src/look/index/open-look-index.js';
import { makeReport } from '../../src/look/report/report.js';
import { displayWidth } from '../../src/look/report/print/text/display-width.js';
import { textReport } from '../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../src/look/report/print/text/text-style.js';
import { readStream } from '../../src/ovni/read/ordered-reader.js';
import { readTraceDirectory } from '../../src/ovni/read/trace-directory.js';
import { findTraces } from '../../src/traces/find-traces.js';
import { TraceViews } from '../../src/traces/trace-views.js';
import { fixturePath } from '../fixtures/run-fixture.js';
import { temporaryDirectory } from '../heph/temporary-file.js';

const FORMATS = ['DUMPI', 'Heph', 'laplace-binary', 'laplace-kernel', 'ovni'];
const directory = temporaryDirectory();
/** As a process was killed that wrote every format. */
const killed = join(directory, 'killed');

beforeAll(async () => {
  mkdirSync(join(killed, 'dumpi'), { recursive: true });
  const script = fixturePath('traces/live.mjs');
  const service = spawn(process.execPath, [script, JSON.stringify({ directory: killed })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(service.stdout, 'data');
  service.kill('SIGKILL');
  await once(service, 'close');
  // It names a second rank, which does not exist.
  for (const name of readdirSync(join(killed, 'dumpi'))) {
    if (name.endsWith('.meta')) rmSync(join(killed, 'dumpi', name));
  }
}, 30_000);

/** Everything below a directory: names, sizes and times of files. */
function stateOf(path: string): string[] {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
  return names.map((name) => {
    const { size, mtimeMs } = statSync(join(path, name));
    return `${name} ${size} ${mtimeMs}`;
  });
}

function linesOf(path: string): Map<string, string[]> {
  const found = findTraces([path]);
  return new Map(
    found.map((trace) => [
      trace.format.name,
      [...trace.format.dump(trace.path, false, {})].map(String),
    ]),
  );
}

function recoveredCopy(): string {
  const copy = join(directory, 'recovered');
  cpSync(killed, copy, { recursive: true });
  for (const { format, path } of findTraces([copy])) {
    expect(format.recover(path, {}).faults).toEqual([]);
  }
  return copy;
}

/** The last number of a kernel trace, which has each once and at least those that were there before. */
function countKernel(path: string, before: number): number {
  let last = 0;
  for (const event of readKernelEvents(path)) {
    if (event.kind === 'end') continue;
    if (Number(event.timestamp) !== ++last)
      throw new Error(`${event.timestamp} follows ${last - 1}`);
  }
  expect(last).toBeGreaterThanOrEqual(before);
  return last;
}

/** The same of the numbered events of an ovni trace. */
function countOvni(trace: string, before: number): number {
  let last = 0;
  for (const stream of readTraceDirectory(trace).streams) {
    for (const event of readStream(stream.path, { version: 3 })) {
      if (event.mcv !== 'OB.') continue;
      const n = event.i32(0);
      if (n !== ++last) throw new Error(`${n} follows ${last - 1}`);
    }
  }
  expect(last).toBeGreaterThanOrEqual(before);
  return last;
}

describe('traces with their rings', () => {
  it('are shown as a recovery completes them, and nothing is written', () => {
    const before = stateOf(killed);
    const views = new TraceViews();
    for (const trace of findTraces([killed])) {
      const view = views.show(trace)!;
      expect([trace.format.name, view.state, view.faults]).toEqual([trace.format.name, 'died', []]);
    }
    const shown = linesOf(killed);
    views.close();
    expect(stateOf(killed)).toEqual(before);
    const wanted = linesOf(recoveredCopy());
    expect([...shown.keys()].sort()).toEqual(FORMATS);
    for (const format of FORMATS) {
      expect(shown.get(format)!.length).toBeGreaterThan(499);
      expect(shown.get(format)).toEqual(wanted.get(format));
    }
  });

  it('have the same rows in a report as after a recovery', async () => {
    const reportOf = async (path: string) => {
      const index = await openLookIndex([path], { cache: false });
      const { report } = await makeReport(index, {
        by: 'name',
        slowest: 0,
        exact: true,
        condition: {},
      });
      const states = index.sources.map(({ format, state }) => `${format} ${state}`).sort();
      index.close();
      return { report, states };
    };
    const before = stateOf(killed);
    const { report, states } = await reportOf(killed);
    expect(stateOf(killed)).toEqual(before);
    expect(states).toEqual([
      'DUMPI died',
      'Heph died',
      'laplace-binary died',
      'laplace-kernel died',
      'ovni died',
    ]);
    for (const width of [40, 80, 200]) {
      for (const line of textReport(report, textStyle(width, false))) {
        expect(displayWidth(line), line).toBeLessThanOrEqual(width);
      }
    }
    const wanted = await reportOf(join(directory, 'recovered'));
    expect(report.groups).toEqual(wanted.report.groups);
    expect(report.mpi[0]!.calls.find(({ name }) => name === 'MPI_Barrier')!.count).toBeGreaterThan(
      499,
    );
    expect(report.mpi[0]!.calls).toEqual(wanted.report.mpi[0]!.calls);
  });

  it('are shown while they are written, with what was recorded last', () => {
    const live = join(directory, 'live');
    mkdirSync(live);
    const kernel = openKernelEvents(join(live, 'now.kernel.txt'));
    const rank = openRank({ directory: live, rank: 0, size: 1, config: {} });
    const views = new TraceViews();
    try {
      for (let n = 1; n <= 100; n++) {
        kernel.schedule(n, n);
        rank.log('MPI_Barrier', { comm: 2 }, rank.enter());
      }
      for (const trace of findTraces([live])) {
        expect(views.show(trace)).toMatchObject({
          state: 'growing',
          pids: [process.pid],
          faults: [],
        });
      }
      const lines = linesOf(live);
      expect(lines.get('laplace-kernel')).toHaveLength(100);
      expect(lines.get('DUMPI')!.filter((line) => line.includes('MPI_Barrier('))).toHaveLength(100);
    } finally {
      views.close();
      kernel.close();
      rank.close();
    }
  });

  it('have each record once, in order, while a process writes', async () => {
    const busy = mkdtempSync(join(directory, 'busy-'));
    const script = fixturePath('traces/busy.mjs');
    const service = spawn(process.execPath, [script, JSON.stringify({ directory: busy })], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(service.stdout, 'data');
    const read = { kernel: 0, ovni: 0 };
    for (let i = 0; i < 12; i++) {
      if (i === 10) service.kill('SIGKILL');
      if (i === 10) await once(service, 'close');
      const views = new TraceViews();
      for (const { format, path } of findTraces([busy])) {
        const view = views.show({ format, path })!;
        expect([view.faults, view.state]).toEqual([[], i < 10 ? 'growing' : 'died']);
        if (format.name === 'ovni') read.ovni = countOvni(join(path, 'loom.loom.1'), read.ovni);
        else read.kernel = countKernel(path, read.kernel);
      }
      views.close();
    }
    expect(read.kernel).toBeGreaterThan(499);
    expect(read.ovni).toBeGreaterThan(499);
  }, 60_000);

  it('are the files alone where a ring belongs to another file', () => {
    const copy = join(directory, 'swapped');
    cpSync(killed, copy, { recursive: true });
    const path = join(copy, 'live.kernel.txt');
    writeFileSync(path, 's 1 1\n'.repeat(10_000));
    const views = new TraceViews();
    const trace = findTraces([path])[0]!;
    const view = views.show(trace)!;
    const fault =
      /here lies something else than .*ring holds for this place|must reach byte|records end here/;
    expect(view.faults).toEqual([
      expect.objectContaining({ message: expect.stringMatching(fault) as string }),
    ]);
    expect([...trace.format.dump(path, false, {})]).toHaveLength(10_000);
    views.close();
  });
});
