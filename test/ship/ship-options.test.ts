import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PACKET_HEAD_BYTES, SIZE_OFFSET } from '../../src/heph/layout.js';
import { RefusedSpans } from '../../src/ship/refused-spans.js';
import { startSpan } from '../../src/spans/start-span.js';
import { main } from '../cli/run-command.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { recorded } from '../spans/span-trace.js';
import { Receiver } from './receiver.js';
import { endAll, idsAt, killedTrace, recording, ShipProcess } from './shipped.js';

const directory = temporaryDirectory();
let runs = 0;
let run: string;
let traces: string;
let receiver: Receiver;

beforeEach(async () => {
  run = join(directory, String(++runs));
  traces = join(run, 'traces');
  mkdirSync(traces, { recursive: true });
  receiver = await new Receiver().listen();
});
afterEach(async () => {
  endAll();
  await receiver.close();
});

const ship = (args: string[], env: NodeJS.ProcessEnv = {}): ShipProcess =>
  new ShipProcess([traces, '--checkpoint', join(run, 'checkpoint'), ...args], env);

/** Records spans of a service in a directory of its own. */
async function recordService(service: string, count = 10, padding = ''): Promise<string> {
  const own = join(traces, service);
  mkdirSync(own);
  await recorded(
    own,
    () => {
      for (let n = 0; n < count; n++) startSpan('one', { n, padding }).end();
    },
    { service },
  );
  return join(
    own,
    readdirSync(own).find((name) => name.endsWith('.heph'))!,
  );
}

const servicesOf = ({ spans }: Receiver): string[] => [
  ...new Set(spans.map(({ service }) => String(service))),
];

describe('what ship sends first, and to whom', () => {
  it('begins with the file that was written last, on request', async () => {
    for (const [i, name] of ['a', 'b', 'c'].entries()) {
      utimesSync(await recordService(name), 1000 + i, 1000 + i);
    }
    const args = ['--to', receiver.url, '--once', '--in-flight', '1'];
    expect(await ship([...args, '--newest-first']).end()).toBe(0);
    expect(servicesOf(receiver)).toEqual(['c', 'b', 'a']);
    rmSync(join(run, 'checkpoint'));
    receiver.spans.length = 0;
    expect(await ship(args).end()).toBe(0);
    expect(servicesOf(receiver)).toEqual(['a', 'b', 'c']);
  });

  it('sends the services that match, with the variables of Kubernetes', async () => {
    await recordService('shop');
    await recordService('other');
    const args = ['--to', receiver.url, '--once', '--match', 'service=shop'];
    const process = ship([...args, '--resource', 'team=a'], {
      K8S_POD_NAME: 'shop-1',
      K8S_NODE_NAME: 'node-7',
    });
    expect(await process.end()).toBe(0);
    expect(servicesOf(receiver)).toEqual(['shop']);
    expect(receiver.spans).toHaveLength(10);
    expect(receiver.spans[0]!.resource).toMatchObject({
      'k8s.pod.name': 'shop-1',
      'k8s.node.name': 'node-7',
      team: 'a',
    });
  });

  it('sends everything to each target, with headers of its own, whatever the others do', async () => {
    await recordService('shop', 100);
    const second = await new Receiver().listen();
    try {
      const files = ['first', 'second'].map((name) => {
        const path = join(run, name);
        writeFileSync(path, `x-key: ${name}\n`);
        return ['--headers', path];
      });
      receiver.answer = () => ({ status: 403 });
      const to = ['--to', receiver.url, '--to', second.url];
      const process = ship([...to, ...files.flat()]);
      await vi.waitFor(
        () => {
          expect(second.spans).toHaveLength(100);
          expect(process.output).toContain('stopped, asked once a minute: HTTP 403');
        },
        { timeout: 60_000 },
      );
      expect(await process.end('SIGTERM')).toBe(1);
      receiver.answer = () => ({ status: 200 });
      expect(await ship([...to, ...files.flat(), '--once']).end()).toBe(0);
      expect(receiver.spans).toHaveLength(100);
      expect(second.spans).toHaveLength(100);
      expect(receiver.requests[0]!.headers['x-key']).toBe('first');
      expect(second.requests[0]!.headers['x-key']).toBe('second');
    } finally {
      await second.close();
    }
  });
});

describe('what ship loses', () => {
  it.each([403, 404])('is nothing if a target answers %i to everything', async (status) => {
    await recordService('shop');
    receiver.answer = () => ({ status });
    const process = ship(['--to', receiver.url]);
    await vi.waitFor(
      () => {
        expect(process.output).toContain(`stopped, asked once a minute: HTTP ${status}`);
      },
      { timeout: 60_000 },
    );
    expect(await process.end('SIGTERM')).toBe(1);
    receiver.answer = () => ({ status: 200 });
    expect(await ship(['--to', receiver.url, '--once']).end()).toBe(0);
    expect(receiver.spans).toHaveLength(10);
  });

  it('is counted if a file is deleted before it was sent', async () => {
    await recordService('a', 3000, 'x'.repeat(1000));
    const second = await recordService('b', 100);
    const { size } = statSync(second);
    receiver.answer = () => ({ status: 503, headers: { 'retry-after': '600' } });
    const headers = join(run, 'headers');
    writeFileSync(headers, '');
    const process = ship(['--to', receiver.url, '--headers', headers]);
    await vi.waitFor(
      () => {
        expect(process.output).toContain('retrying');
      },
      { timeout: 60_000 },
    );
    rmSync(second);
    receiver.answer = () => ({ status: 200 });
    // It is asked at once.
    process.child.kill('SIGHUP');
    await vi.waitFor(
      () => {
        expect(process.output).toContain(
          `${second} was deleted with ${size.toLocaleString('en-US')} bytes that were not sent`,
        );
      },
      { timeout: 60_000 },
    );
    expect(servicesOf(receiver)).toEqual(['a']);
    await process.end('SIGTERM');
  });

  it('is kept with its reason, in a bounded directory', async () => {
    const spans = await recorded(
      run,
      () => {
        startSpan('one', { padding: 'x'.repeat(1 << 20) }).end();
      },
      { limits: { valueLength: 1 << 21 } },
    );
    const path = join(run, 'refused');
    const refused = new RefusedSpans(path);
    const batch = { spans, producers: ['/a'], counters: [1] };
    const kept = Array.from({ length: 100 }, (_, i) => refused.add('target', `reason ${i}`, batch));
    expect([kept[0], kept.at(-1)]).toEqual([true, false]);
    const files = readdirSync(path).map((name) => join(path, name));
    const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
    expect(bytes).toBeGreaterThan(20 << 20);
    expect(bytes).toBeLessThanOrEqual(64 << 20);
    const text = files.map((file) => readFileSync(file, 'utf8')).join('');
    expect(text).toContain('"reason":"reason 0"');
  });
});

describe('traces whose directory is renamed', () => {
  it('are sent once, by a process that goes on and by the next one', async () => {
    await recordService('a', 50);
    mkdirSync(join(traces, 'b'));
    const child = await recording({ target: join(traces, 'b', 'living.heph'), most: 500 });
    const process = ship(['--to', receiver.url]);
    const untilReceived = (count: number): Promise<void> =>
      vi.waitFor(
        () => {
          expect(receiver.spans.length).toBeGreaterThanOrEqual(count);
        },
        { timeout: 60_000 },
      );
    await untilReceived(550);
    renameSync(join(traces, 'a'), join(traces, 'c'));
    renameSync(join(traces, 'b'), join(traces, 'd'));
    child.kill('SIGKILL');
    await recordService('later', 10);
    await untilReceived(561);
    expect(await process.end('SIGTERM')).toBe(0);
    expect(receiver.ids).toEqual(await idsAt(traces));
    expect(process.output).not.toContain('was deleted');
    renameSync(join(traces, 'c'), join(traces, 'e'));
    const next = ship(['--to', receiver.url, '--once']);
    expect(await next.end()).toBe(0);
    expect(next.output).toContain('0 spans sent');
  });
});

describe('a file that another trace has replaced', () => {
  it('is read from its start, even if it is the same file of the system', async () => {
    const path = await recordService('shop');
    const other = await recordService('other', 30);
    const bytes = readFileSync(other);
    rmSync(other);
    const args = ['--to', receiver.url, '--once'];
    expect(await ship(args).end()).toBe(0);
    expect(receiver.spans).toHaveLength(10);
    writeFileSync(path, bytes);
    expect(await ship(args).end()).toBe(0);
    expect(receiver.spans.filter(({ service }) => service === 'other')).toHaveLength(30);
  });
});

describe('what ship deletes', () => {
  it('is no file of which something could not be read', async () => {
    const [good, bad] = [await recordService('good'), await recordService('bad', 50)];
    const bytes = readFileSync(bad);
    let damaged = 0;
    while (damaged < bytes.length >> 1) damaged += bytes.readUInt32BE(damaged + SIZE_OFFSET);
    bytes.fill(0xff, damaged, damaged + PACKET_HEAD_BYTES);
    writeFileSync(bad, bytes);
    for (const path of [good, bad]) utimesSync(path, 1000, 1000);
    const args = ['--to', receiver.url, '--once', '--delete'];
    for (let runs = 0; runs < 2; runs++) await ship(args).end();
    expect([existsSync(good), existsSync(bad)]).toEqual([false, true]);
    expect(receiver.spans.length).toBeGreaterThan(50);
  });

  it('is no file that a ring in another directory names', async () => {
    const rings = join(run, 'rings');
    mkdirSync(rings);
    const target = join(traces, 'killed.heph');
    killedTrace(target, 5, { TRACEWRIGHT_RING_DIR: rings });
    expect(readdirSync(rings).length).toBeGreaterThan(0);
    utimesSync(target, 1000, 1000);
    const args = ['--to', receiver.url, '--once', '--ring-dir', rings];
    expect(await ship([...args, '--delete']).end()).toBe(0);
    expect(receiver.spans).toHaveLength(11);
    expect(existsSync(target)).toBe(true);
  });
});

/** Runs a command where no process has an instance of inotify. */
const WITHOUT_INOTIFY = ['-U', '-r', 'sh', '-c'];
const setLimit = 'echo 0 > /proc/sys/user/max_inotify_instances';
const canLimit =
  spawnSync('unshare', [...WITHOUT_INOTIFY, setLimit], { stdio: 'ignore' }).status === 0;

describe('ship, when notifications are used up', () => {
  it.skipIf(!canLimit)('searches the directories, and says so once', async () => {
    const args = [main, 'ship', traces, '--to', receiver.url, '--checkpoint', join(run, 'c')];
    const start = `${setLimit}; exec "$0" "$@"`;
    const child = spawn('unshare', [...WITHOUT_INOTIFY, start, process.execPath, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    try {
      await vi.waitFor(
        () => {
          expect(output).toContain('cannot be watched');
        },
        { timeout: 60_000 },
      );
      for (const name of ['a', 'b']) mkdirSync(join(traces, name));
      await recording({ target: join(traces, 'b', 'later.heph'), most: 500 });
      await vi.waitFor(
        () => {
          expect(receiver.spans).toHaveLength(500);
        },
        { timeout: 60_000 },
      );
      expect(output.match(/cannot be watched/g)).toHaveLength(1);
    } finally {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    }
  });
});
