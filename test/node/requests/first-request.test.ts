import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { checkTrace as checkOvni } from '../../../src/ovni/read/check.js';
import { readStream } from '../../../src/ovni/read/ordered-reader.js';
import { readTraceDirectory } from '../../../src/ovni/read/trace-directory.js';
import { mayMount, SmallDisk } from '../../faults/small-disk.js';
import { TracedProcess } from '../traced-process.js';

const disks: SmallDisk[] = [];
afterEach(() => {
  for (const disk of disks.splice(0)) disk.unmount();
});

describe.skipIf(!mayMount)('a disk that is full at the first request (needs to mount)', () => {
  it.each([
    ['1', 'off'],
    ['3', 'off'],
    ['3', 'on'],
  ])('only delays the tracing, ovni version %s, context %s', async (version, context) => {
    const disk = SmallDisk.mount(16 * 1024)!;
    disks.push(disk);
    const run = join(disk.path, 'run');
    const service = new TracedProcess('two-servers.mjs', {
      env: {
        TRACEWRIGHT_DIR: run,
        TRACEWRIGHT_OVNI_VERSION: version,
        TRACEWRIGHT_CONTEXT: context,
      },
    });
    const ports = [await service.port(), Number((await service.printed(/^worker (\d+)$/m))[1])];
    const get = async (path: string): Promise<void> => {
      for (const port of ports) await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    };
    disk.fill();
    await get('/during');
    await service.warned(
      /HTTP requests are not traced until the system allows it: ENOSPC|spans are not recorded: .*ENOSPC/,
    );
    disk.free();
    const heph = join(run, 'heph');
    const traced = (path: string): number =>
      readdirSync(heph)
        .filter((name) => name.endsWith('.heph'))
        .map((name) => readFileSync(join(heph, name), 'latin1').split(path).length - 1)
        .reduce((sum, count) => sum + count, 0);
    // One of the main thread and one of the worker.
    for (let i = 0; traced(`/after-${i}-`) < 2; i++) {
      await get(`/after-${i + 1}-`);
      await sleep(200);
    }
    service.kill('SIGTERM');
    expect((await service.ended()).stderr).not.toContain('no longer traced');
    expect([...checkOvni(join(run, 'ovni'))]).toEqual([]);
  });
});

describe.skipIf(!mayMount)('a disk that is full when a thread begins (needs to mount)', () => {
  it.each([
    ['1', {}],
    ['3', {}],
    ['3', { TRACEWRIGHT_MAX_BYTES: '8388608' }],
  ])('only delays its ovni stream, version %s, %o', async (version, env) => {
    const disk = SmallDisk.mount(16 * 1024)!;
    disks.push(disk);
    const run = join(disk.path, 'run');
    const service = new TracedProcess('late-worker.mjs', {
      env: {
        TRACEWRIGHT_DIR: run,
        TRACEWRIGHT_OVNI_VERSION: version,
        TRACEWRIGHT_RING_BYTES: '65536',
        ...env,
      },
    });
    await service.get('/');
    disk.fill();
    await service.get('/');
    const port = Number((await service.printed(/^worker (\d+)$/m))[1]);
    await service.warned(/no ovni trace of this thread is written until .*: ENOSPC/);
    const ovni = join(run, 'ovni');
    // The rotating trace's first piece is a trace of its own.
    const trace = 'TRACEWRIGHT_MAX_BYTES' in env ? join(ovni, readdirSync(ovni)[0]!) : ovni;
    const isStream = (name: string): boolean =>
      version === '3' ? name.endsWith('stream.obs') : /(?:^|\/)thread\.\d{1,9}$/.test(name);
    const streams = (): number =>
      readdirSync(trace, { recursive: true, encoding: 'utf8' }).filter(isStream).length;
    const before = streams();
    disk.free();
    while (streams() === before) await sleep(50);
    await (await fetch(`http://127.0.0.1:${port}/`)).text();
    service.kill('SIGTERM');
    await service.ended();
    expect([...checkOvni(trace)]).toEqual([]);
    const worker = readTraceDirectory(trace).streams.find(
      ({ metadata }) => (metadata.attributes['node'] as { thread: string }).thread === 'worker 1',
    )!;
    let marks = 0;
    for (const { mcv } of readStream(worker.path, { version: worker.version })) {
      if (mcv === 'OM=') marks += 1;
    }
    // The request has come; that it was answered the client may know earlier than the trace.
    expect(marks).toBeGreaterThan(0);
  });
});
