import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { core } from '../../../src/core/addon.js';
import { recoverTrace as recoverDumpi } from '../../../src/dumpi/read/recover.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import { openTrace } from '../../../src/heph/write/trace.js';
import { recoverTrace as recoverHeph } from '../../../src/heph/read/recover.js';
import { recoverTrace as recoverLaplace } from '../../../src/laplace/read/recover.js';
import { recoverTrace as recoverOvni } from '../../../src/ovni/read/recover.js';
import { tracewright } from '../../cli/run-command.js';
import { fixturePath, runFixture } from '../../fixtures/run-fixture.js';

const root = mkdtempSync(join(tmpdir(), 'tracewright-at-once-'));
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

const COUNT = 2000;
const ROUNDS = 6;
let places = 0;

function newPlace(): string {
  return join(root, String(++places));
}

/** What a process that was killed has left in every format. */
async function killedTraces(version: 1 | 3): Promise<string> {
  const place = newPlace();
  mkdirSync(place);
  const input = { place, count: COUNT, version };
  const { signal, stderr } = await runFixture('core/killed-formats.mjs', { input });
  expect([signal, stderr]).toEqual(['SIGKILL', '']);
  return place;
}

function copyOf(place: string): string {
  const copy = newPlace();
  cpSync(place, copy, { recursive: true });
  return copy;
}

/** The numbers of a Heph file by stream: in which order the streams lie in it is open. */
function hephStreams(path: string): string {
  const streams = new Map<number, unknown[]>();
  for (const packet of readPackets(path)) {
    if (packet.kind !== 'event') continue;
    const numbers = streams.get(packet.stream) ?? [];
    streams.set(packet.stream, numbers);
    numbers.push(Number(packet.attributes[0]!.value));
  }
  return JSON.stringify([...streams].sort(([a], [b]) => a - b));
}

/** Every file of a place, by name. */
function contentOf(place: string): Map<string, string> {
  const files = readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return new Map(
    files.map((file) => [
      file.slice(place.length),
      file.endsWith('.heph') ? hephStreams(file) : readFileSync(file, 'latin1'),
    ]),
  );
}

type Recover = (path: string, options: { waitMs?: number }) => unknown;

/** Each with its path, and the directory whose lock a recovery has. */
const traces: [string, string, string, Recover][] = [
  ['ovni', 'ovni', 'ovni/loom.node.1/proc.1', recoverOvni],
  ['Heph', 'trace.heph', '.', recoverHeph],
  ['DUMPI', 'dumpi', 'dumpi', recoverDumpi],
  ['Laplace', 'a.references', '.', recoverLaplace],
];

/** Has a directory locked as another process would that recovers there. */
async function whileOtherRecovers(directory: string, work: () => unknown): Promise<void> {
  const fd = openSync(directory, 'r');
  try {
    expect(core.tryLock(fd)).toBe(true);
    await work();
  } finally {
    closeSync(fd);
  }
}

describe.runIf(process.platform === 'linux')('recoveries of the same traces at once', () => {
  const children: ChildProcess[] = [];
  let killed = '';
  beforeAll(async () => {
    killed = await killedTraces(3);
    children.push(...[0, 1].map(() => fork(fixturePath('core/recovering.mjs'))));
    await Promise.all(children.map((child) => once(child, 'message')));
  });
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  it.each([3, 1] as const)(
    'of two processes leave what one would, version %i of ovni',
    async (version) => {
      const left = version === 3 ? killed : await killedTraces(version);
      const alone = copyOf(left);
      expect(tracewright('recover', alone)).toMatchObject({ status: 0, stderr: '' });
      const wanted = contentOf(alone);
      expect([...wanted.keys()].filter((name) => name.endsWith('.ring'))).toEqual([]);
      expect(wanted.size).toBeGreaterThanOrEqual(7);

      for (let round = 0; round < ROUNDS; round++) {
        const place = copyOf(left);
        const at = Date.now() + 10;
        const said = children.map((child) => once(child, 'message'));
        for (const [i, child] of children.entries())
          child.send({ place, at: at + (i * round) / 2 });
        expect((await Promise.all(said)).flatMap(([faults]) => faults as string[])).toEqual([]);
        const found = contentOf(place);
        expect([...found.keys()]).toEqual([...wanted.keys()]);
        for (const [name, content] of found) {
          if (content !== wanted.get(name)) throw new Error(`${name} differs in round ${round}`);
        }
        rmSync(place, { recursive: true });
      }
    },
  );

  it('of two commands both end well', async () => {
    const place = copyOf(killed);
    const wanted = copyOf(place);
    tracewright('recover', wanted);
    const commands = [0, 1].map(() =>
      fork(new URL('../../../dist/cli/main.js', import.meta.url), ['recover', place], {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      }),
    );
    const ends = await Promise.all(commands.map((command) => once(command, 'exit')));
    expect(ends).toEqual([
      [0, null],
      [0, null],
    ]);
    expect(contentOf(place)).toEqual(contentOf(wanted));
  });

  it.each(traces)(
    'of %s: one waits no longer than it is told',
    async (_, path, locked, recover) => {
      const place = copyOf(killed);
      const before = contentOf(place);
      await whileOtherRecovers(join(place, locked), () => {
        expect(() => recover(join(place, path), { waitMs: 0 })).toThrow(
          expect.objectContaining({ code: 'ERR_TIMEOUT', field: 'waitMs', value: 0 }),
        );
        expect(contentOf(place)).toEqual(before);
      });
      expect(recover(join(place, path), { waitMs: 0 })).toMatchObject({ faults: [] });
    },
  );

  it('leave a part of a trace to the one that recovers the whole', async () => {
    const place = copyOf(killed);
    const thread = join(place, 'ovni/loom.node.1/proc.1/thread.2');
    await whileOtherRecovers(dirname(thread), () => {
      expect(() => recoverOvni(thread, { waitMs: 0 })).toThrow(/another process/);
    });
    expect(recoverOvni(thread).streams).toHaveLength(1);
  });

  it('keep nobody from a new trace in the same directory, and a replaced one where it is', async () => {
    const place = copyOf(killed);
    const target = join(place, 'trace.heph');
    await whileOtherRecovers(place, async () => {
      const trace = openTrace(join(place, 'new.heph'));
      expect(() => openTrace(target, { exists: 'replace' })).toThrow(/a live process/);
      await trace.close();
    });
    expect(recoverHeph(target).faults).toEqual([]);
    expect(JSON.parse(hephStreams(target))).toHaveLength(3);
  });

  it('refuses a wrong waitMs', () => {
    const path = join(root, 'none.heph');
    writeFileSync(path, '');
    for (const [, , , recover] of traces) {
      expect(() => recover(path, { waitMs: -1 })).toThrow(/waitMs must be an integer/);
    }
  });
});
