import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { checkTrace as checkHeph } from '../../../src/heph/read/check.js';
import { checkTrace as checkOvni } from '../../../src/ovni/read/check.js';
import { completeEarlierTraces, deleteOldest } from '../../../src/node/run/earlier-traces.js';
import { cutEndOf } from '../../../src/heph/file-names.js';
import { isAlive } from '../../../src/core/recovery/process-identity.js';
import { hasCode } from '../../../src/core/files/system-error.js';
import { TracedProcess, temporaryDirectory } from '../traced-process.js';
import { faultsOf, requestsOf } from '../written-traces.js';

const RING = 65_536;
const BUDGET = 1 << 20;

function filesBelow(directory: string): string[] {
  if (!existsSync(directory)) return [];
  let names: string[];
  try {
    names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  } catch (error) {
    // A directory that was listed has been deleted since.
    if (hasCode(error, 'ENOENT')) return filesBelow(directory);
    throw error;
  }
  return names
    .map((name) => join(directory, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}

function ringsBelow(directory: string): string[] {
  return filesBelow(directory).filter((path) => path.endsWith('.ring'));
}

/** Bytes of traces; rings and metadata come on top of a budget. */
function bytesBelow(directory: string, isLeftOut: (path: string) => boolean = () => false): number {
  return filesBelow(directory)
    .filter((path) => !/\.ring$|\.json$/.test(path) && !isLeftOut(path))
    .reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
}

async function busy(
  directory: string,
  env: Record<string, string> = {},
  script = 'busy-service.mjs',
): Promise<TracedProcess> {
  const service = new TracedProcess(script, {
    env: { TRACEWRIGHT_DIR: directory, TRACEWRIGHT_RING_BYTES: String(RING), ...env },
  });
  await service.port();
  return service;
}

/** Keeps a service at work until a condition holds. */
async function until(service: TracedProcess, holds: () => boolean): Promise<void> {
  while (!holds()) {
    await service.get('/');
    await sleep(20);
  }
}

async function killed(service: TracedProcess): Promise<void> {
  service.kill('SIGKILL');
  await service.ended();
}

/** Puts a file of the budget's size where there is no trace. */
function putFile(path: string, bytes = Buffer.alloc(BUDGET)): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return path;
}

describe('what a killed service has left', () => {
  it('is completed by the next one in its place', async () => {
    const place = join(temporaryDirectory(), 'run');
    const first = await busy(place);
    await until(first, () => bytesBelow(place) > RING);
    await killed(first);
    expect(ringsBelow(place)).not.toEqual([]);

    const second = await busy(place);
    expect(ringsBelow(place)).toEqual([]);
    const errors = [...checkOvni(join(place, 'ovni'))].filter(
      ({ severity }) => severity === 'error',
    );
    expect(errors).toEqual([]);
    for (const file of readdirSync(join(place, 'heph'))) {
      const found = [...checkHeph(join(place, 'heph', file))];
      expect(found.filter(({ severity }) => severity === 'error')).toEqual([]);
    }
    // What the living write is theirs.
    const rings = ringsBelow(`${place}.1`);
    expect(rings).not.toEqual([]);
    const third = await busy(place);
    expect(ringsBelow(`${place}.1`)).toEqual(expect.arrayContaining(rings));
    await killed(second);
    await killed(third);
  });

  it('is completed while the next one is at work if there are many later runs', async () => {
    const place = join(temporaryDirectory(), 'run');
    const first = await busy(place);
    await until(first, () => bytesBelow(place) > RING);
    await killed(first);
    for (let n = 1; n <= 12; n++) mkdirSync(join(`${place}.${n}`, 'ovni'), { recursive: true });
    const second = await busy(place);
    expect(ringsBelow(`${place}.13`)).not.toEqual([]);
    await until(second, () => ringsBelow(place).length === 0);
    expect(faultsOf(place)).toEqual([]);
    await killed(second);
  });

  it('is completed at once if only older runs are finished', async () => {
    const place = join(temporaryDirectory(), 'run');
    for (let n = 1; n <= 12; n++) mkdirSync(join(`${place}.${n}`, 'ovni'), { recursive: true });
    const first = await busy(place);
    await until(first, () => bytesBelow(`${place}.13`) > RING);
    await killed(first);
    const second = await busy(place);
    expect(ringsBelow(`${place}.13`)).toEqual([]);
    await killed(second);
  });

  it('is recovered as far as it can be, and a lost end is said once', async () => {
    const place = join(temporaryDirectory(), 'run');
    const first = await busy(place);
    const hephFile = (): string | undefined =>
      filesBelow(join(place, 'heph')).find((path) => path.endsWith('.heph'));
    const size = (file = ''): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    await until(first, () => size(hephFile()) > 4096);
    await killed(first);
    const file = hephFile()!;
    truncateSync(file, statSync(file).size >> 1);

    const second = await busy(place);
    expect(ringsBelow(place)).toEqual([]);
    await killed(second);
    const { stderr } = await second.ended();
    const said = stderr.split('TRACEWRIGHT_TRACE_DAMAGED').slice(1);
    expect(said).toEqual([expect.stringContaining('has lost its end')]);
    expect(said[0]).toContain(file);
  });

  it('counts: the oldest is deleted where it is beyond the budget', async () => {
    const parent = temporaryDirectory();
    const place = join(parent, 'run');
    const env = { TRACEWRIGHT_MAX_BYTES: String(BUDGET) };
    for (let n = 0; n < 4; n++) {
      const before = bytesBelow(parent);
      const service = await busy(place, env);
      // What lives may be beyond its own budget by what it has recorded since it looked last.
      const isOwn = (path: string): boolean => RegExp(`[-.]${service.pid}[./]`).test(path);
      expect(bytesBelow(parent, isOwn)).toBeLessThanOrEqual(BUDGET);
      await until(service, () => bytesBelow(parent) > before + BUDGET / 4 || n === 3);
      await killed(service);
    }
  });

  it('counts: recording stops where it has spent the budget', async () => {
    const parent = temporaryDirectory();
    const place = join(parent, 'run');
    const env = {
      TRACEWRIGHT_MAX_BYTES: String(BUDGET),
      TRACEWRIGHT_AT_MAX_BYTES: 'stop',
      TRACEWRIGHT_FORMATS: 'ovni',
    };
    const first = await busy(place, env);
    await first.warned(/TRACEWRIGHT_BUDGET_SPENT/);
    first.kill('SIGTERM');
    await first.ended();
    expect(bytesBelow(place)).toBeLessThanOrEqual(BUDGET);
    const found = [...checkOvni(join(place, 'ovni'))];
    expect(found.filter(({ severity }) => severity === 'error')).toEqual([]);

    const second = await busy(place, env, 'routed-service.mjs');
    second.kill('SIGTERM');
    expect((await second.ended()).stderr).toContain('earlier traces take');
    expect(bytesBelow(parent)).toBeLessThanOrEqual(BUDGET);
  });
});

it('what a recovery has cut off a trace is deleted with it', () => {
  const heph = join(temporaryDirectory(), 'run', 'heph');
  mkdirSync(heph, { recursive: true });
  const [path, other] = ['app-7.heph', 'app-77.heph'].map((name) => join(heph, name));
  const cuts = [path!, other!].map((file) => cutEndOf(file, 1n, 9).path);
  for (const file of [path!, other!, ...cuts]) writeFileSync(file, 'bytes');
  deleteOldest([{ path: path!, bytes: 5, time: 0 }], 4);
  expect(filesBelow(heph).sort()).toEqual([cuts[1], other]);
});

describe('with the rings in a directory of their own', () => {
  it('what killed services have left is completed', async () => {
    const parent = temporaryDirectory();
    const place = join(parent, 'run');
    const rings = join(parent, 'rings');
    mkdirSync(rings);
    const env = { TRACEWRIGHT_RING_DIR: rings };
    for (let n = 0; n < 2; n++) {
      const service = await busy(place, env);
      await until(service, () => bytesBelow(n === 0 ? place : `${place}.${n}`) > RING);
      await killed(service);
    }
    const left = readdirSync(rings);
    const last = await busy(place, env);
    for (const run of [place, `${place}.1`]) expect(faultsOf(run)).toEqual([]);
    expect(left.filter((name) => existsSync(join(rings, name)))).toEqual([]);
    expect(ringsBelow(rings)).not.toEqual([]);
    await killed(last);
  });

  it('what living services write is theirs, also what they have finished', async () => {
    const parent = temporaryDirectory();
    const place = join(parent, 'run');
    const rings = join(parent, 'rings');
    mkdirSync(rings);
    const env = { TRACEWRIGHT_RING_DIR: rings, TRACEWRIGHT_MAX_BYTES: String(BUDGET) };
    const first = await busy(place, env);
    await until(first, () => bytesBelow(place) > BUDGET);
    // It lives, and does nothing.
    first.kill('SIGSTOP');
    const before = filesBelow(parent);
    await killed(await busy(place, { ...env, TRACEWRIGHT_MAX_BYTES: String(4 * RING) }));
    expect(before.filter((path) => !existsSync(path))).toEqual([]);
    await killed(first);
  });

  it('a relative name is that of the beginning', async () => {
    const parent = temporaryDirectory();
    mkdirSync(join(parent, 'rings'));
    const service = new TracedProcess('wandering-service.mjs', {
      cwd: parent,
      env: { TRACEWRIGHT_RING_DIR: 'rings' },
    });
    const ended = await service.ended();
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(join(parent, 'rings'))).toEqual([]);
    expect(faultsOf(service.directory)).toEqual([]);
    // The main thread, its worker, its child.
    expect(requestsOf(service.directory)).toHaveLength(3);
  });
});

describe('the killed one of several processes of a run', () => {
  it('has its traces completed while the others live', async () => {
    const service = new TracedProcess('cluster-service.mjs', {});
    const pid = Number(await service.get('/'));
    const ringsOf = () =>
      ringsBelow(service.directory).filter((path) => path.includes(String(pid)));
    expect(ringsOf()).not.toEqual([]);
    process.kill(pid, 'SIGKILL');
    while (isAlive({ pid, start: '0', boot: '' })) await sleep(5);
    const rings = ringsBelow(service.directory);
    const next = await busy(service.directory);
    expect(ringsOf()).toEqual([]);
    expect(ringsBelow(service.directory)).toEqual(
      rings.filter((path) => !path.includes(String(pid))),
    );
    await killed(next);
    await killed(service);
  });
});

describe('a ring that cannot be read', () => {
  /** A run with a finished trace of either format, and others whose rings say nothing. */
  function runWithRings(makeRing: (path: string) => void, ringDir?: string): string[] {
    const run = join(temporaryDirectory(), 'run');
    // The header of a stream, and an event without a payload.
    const burst = Buffer.from('ovni\x01\0\0\0\0OB.\x01\0\0\0\0\0\0\0', 'latin1');
    const heph = (name: string) => putFile(join(run, 'heph', name));
    const process = (name: string) => join(run, 'ovni', 'loom.node', name);
    const streamOf = (name: string) => putFile(join(process(name), 'thread.1', 'stream.obs'));
    heph('service-2000001.heph');
    streamOf('proc.2000001');
    heph('service-2000002.heph');
    const stream = putFile(join(process('proc.2000002'), 'thread.1', 'stream.obs'), burst);
    const ring = join(
      ringDir ?? dirname(stream),
      ringDir === undefined ? '.stream.ring' : 'a.ring',
    );
    const writer = { pid: 2_000_002, start: '1', boot: 'x', ring };
    for (const name of ['stream.json', '.stream.json.finished']) {
      writeFileSync(join(dirname(stream), name), JSON.stringify({ ovni: { lib: { writer } } }));
    }
    makeRing(ring);
    makeRing(join(ringDir ?? join(run, 'heph'), '.service-2000002.heph.2000002-2000002-1.ring'));
    const traces = completeEarlierTraces(join(dirname(run), 'present'), [run], ringDir);
    return traces.map(({ path }) => path.slice(run.length + 1)).sort();
  }
  const FINISHED = ['heph/service-2000001.heph', 'ovni/loom.node/proc.2000001'];

  it('keeps a trace from being taken for finished: one that is damaged', () => {
    const damaged = (path: string) => {
      writeFileSync(path, 'damaged'.repeat(2000));
    };
    expect(runWithRings(damaged)).toEqual(FINISHED);
  });

  it('unless it is a link, which is no ring of ours', () => {
    const planted = (path: string) => {
      symlinkSync('/root/nowhere', path);
    };
    const others = ['heph/service-2000002.heph', 'ovni/loom.node/proc.2000002'];
    expect(runWithRings(planted)).toEqual([...FINISHED, ...others].sort());
  });

  it('nor does one in a directory of its own', () => {
    const damaged = (path: string) => {
      writeFileSync(path, 'damaged'.repeat(2000));
    };
    expect(runWithRings(damaged, temporaryDirectory())).toEqual(FINISHED);
  });
});

describe('what is no trace of an earlier run', () => {
  it('is left as it is, whatever leads there', async () => {
    const parent = temporaryDirectory();
    const place = join(parent, 'run');
    const elsewhere = join(parent, 'elsewhere');
    const service = await busy(elsewhere);
    await until(service, () => bytesBelow(elsewhere) > RING);
    await killed(service);
    const rings = ringsBelow(elsewhere);
    expect(rings.length).toBeGreaterThan(1);
    // Links to whole traces, and to their parts.
    mkdirSync(`${place}.1`);
    symlinkSync('../elsewhere/ovni', `${place}.1/ovni`);
    symlinkSync('../elsewhere/heph', `${place}.1/heph`);
    mkdirSync(`${place}.2/ovni`, { recursive: true });
    mkdirSync(`${place}.2/heph`);
    for (const name of readdirSync(join(elsewhere, 'ovni')))
      symlinkSync(`../../elsewhere/ovni/${name}`, `${place}.2/ovni/${name}`);
    symlinkSync('../elsewhere', `${place}.4`);
    mkdirSync(`${place}.5/ovni/loom.a`, { recursive: true });
    const others = [
      putFile(join(elsewhere, 'ovni', 'photos', 'a.jpg')),
      putFile(join(elsewhere, 'ovni', 'b.tar')),
      // Nor what lies next to traces under names that are not theirs.
      putFile(`${place}.2/ovni/photos/a.jpg`),
      putFile(`${place}.2/ovni/.config/a`),
      putFile(`${place}.2/ovni/loom`),
      putFile(`${place}.2/heph/a.tar`),
      putFile(`${place}.2/heph/photos.heph/a.jpg`),
    ];
    // A trace goes, so that the others would be next.
    const trace = putFile(`${place}.5/ovni/loom.a/proc.1/thread.1`);
    const second = await busy(place, { TRACEWRIGHT_MAX_BYTES: String(BUDGET / 2) });
    await killed(second);
    expect(others.filter((path) => !existsSync(path))).toEqual([]);
    expect(existsSync(trace)).toBe(false);
    expect(ringsBelow(elsewhere)).toEqual(rings);
    expect(lstatSync(`${place}.1/ovni`).isSymbolicLink()).toBe(true);
  });

  it('is no place for a new one', async () => {
    const parent = temporaryDirectory();
    const place = join(parent, 'run');
    const elsewhere = join(parent, 'elsewhere');
    mkdirSync(elsewhere);
    mkdirSync(`${place}/ovni`, { recursive: true });
    symlinkSync('elsewhere', `${place}.1`);
    mkdirSync(`${place}.2`);
    symlinkSync('../elsewhere/new', `${place}.2/heph`);
    const service = await busy(place);
    await killed(service);
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(readdirSync(`${place}.3`)).toEqual(['heph', 'ovni']);
    // A link that the user names is followed.
    symlinkSync('elsewhere', join(parent, 'named'));
    await killed(await busy(join(parent, 'named')));
    expect(readdirSync(elsewhere).sort()).toEqual(['heph', 'ovni']);
  });
});
