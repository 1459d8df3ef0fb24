import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { checkTrace as checkOvni } from '../../../src/ovni/read/check.js';
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
        TRACEWRIGHT_FORMATS: 'heph,ovni',
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
