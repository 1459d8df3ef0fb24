import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tracewright } from '../cli/run-command.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { recorded } from '../spans/span-trace.js';
import { startSpan } from '../../src/spans/start-span.js';
import { Receiver } from './receiver.js';
import { endAll, idsAt, killedTrace, recording, ShipProcess } from './shipped.js';

const directory = temporaryDirectory();
let runs = 0;
let run: string;
let receiver: Receiver;

const ship = (...args: string[]): ShipProcess =>
  new ShipProcess([join(run, 'traces'), '--checkpoint', join(run, 'checkpoint'), ...args]);

/** Sends what is there. */
async function shipOnce(...args: string[]): Promise<ShipProcess> {
  const process = ship('--to', receiver.url, '--once', ...args);
  await process.end();
  return process;
}

const untilReceived = (count: number): Promise<void> =>
  vi.waitFor(
    () => {
      expect(receiver.spans.length).toBeGreaterThanOrEqual(count);
    },
    { timeout: 60_000, interval: 20 },
  );

beforeEach(async () => {
  run = join(directory, String(++runs));
  mkdirSync(join(run, 'traces'), { recursive: true });
  receiver = await new Receiver().listen();
});
afterEach(async () => {
  endAll();
  await receiver.close();
});

describe('ship, of a process that was killed', () => {
  it('sends its spans and those it had open once, and changes nothing', async () => {
    const target = join(run, 'traces', 'killed.heph');
    killedTrace(target);
    const names = readdirSync(join(run, 'traces'));
    const before = readFileSync(target);
    const expected = await idsAt(target);
    const first = await shipOnce();
    expect(first.output).toContain('61 spans sent');
    expect(first.child.exitCode).toBe(0);
    expect(receiver.ids).toEqual(expected);
    expect(receiver.spans[0]!.service).toBeDefined();
    expect(receiver.requests[0]!.url).toBe('/v1/traces');
    expect(receiver.requests[0]!.headers['content-encoding']).toBe('gzip');
    expect(readdirSync(join(run, 'traces'))).toEqual(names);
    expect(readFileSync(target).equals(before)).toBe(true);
    await shipOnce();
    // A recovery writes to the file what was sent from the rings.
    expect(tracewright('recover', target).status).toBe(0);
    expect(statSync(target).size).toBeGreaterThan(before.length);
    const last = await shipOnce();
    expect(last.output).toContain('0 spans sent');
    expect(receiver.ids).toEqual(expected);
  });

  it('completes its trace on the disk with --recover, and sends each span once', async () => {
    const target = join(run, 'traces', 'killed.heph');
    killedTrace(target);
    const expected = await idsAt(target);
    const { size } = statSync(target);
    const first = await shipOnce('--recover');
    expect(first.output).toContain(`${target} is recovered`);
    expect(first.output).toContain('61 spans sent');
    expect(readdirSync(join(run, 'traces'))).toEqual(['killed.heph']);
    expect(statSync(target).size).toBeGreaterThan(size);
    expect(tracewright('check', target).status).toBe(0);
    expect((await shipOnce('--recover')).output).toContain('0 spans sent');
    expect(receiver.ids).toEqual(expected);
  });

  it('selects, adds to the resource, and says what it would send', async () => {
    killedTrace(join(run, 'traces', 'killed.heph'), 6);
    const traces = join(run, 'traces');
    const dry = tracewright('ship', traces, '--dry-run', '--to', receiver.url);
    expect(dry.stdout).toMatch(/: 13 spans, 12 of them unfinished\n1 file read, nothing sent\n$/);
    expect(receiver.requests).toHaveLength(0);
    await shipOnce('--match', 'name=main*', '--resource', 'team=a', '--compression', 'none');
    expect(receiver.spans).toHaveLength(6);
    expect(receiver.spans.every(({ resource }) => resource['team'] === 'a')).toBe(true);
    expect(receiver.requests[0]!.headers['content-encoding']).toBeUndefined();
  });
});

describe('ship, of a living process', () => {
  it('sends each span once, and what was open when the process is killed', async () => {
    const process = ship('--to', receiver.url);
    const target = join(run, 'traces', 'later', 'living.heph');
    mkdirSync(join(run, 'traces', 'later'));
    const child = await recording({ target, most: 3000 });
    await untilReceived(3000);
    expect(receiver.spans.some(({ name }) => name === 'kept open')).toBe(false);
    child.kill('SIGKILL');
    await untilReceived(3001);
    expect(await process.end('SIGTERM')).toBe(0);
    expect(receiver.ids).toEqual(await idsAt(target));
  });

  it('goes on after it was killed itself', async () => {
    const target = join(run, 'traces', 'living.heph');
    const child = await recording({ target, most: 40_000, perTick: 400, padding: 100 });
    for (let kills = 0; kills < 4; kills++) {
      const process = ship('--to', receiver.url);
      await untilReceived(receiver.spans.length + 2000);
      await process.end('SIGKILL');
    }
    child.kill('SIGKILL');
    await shipOnce();
    expect([...new Set(receiver.ids)]).toEqual(await idsAt(target));
    // What was in flight at a kill, and what had arrived in the second before it.
    expect(receiver.ids.length).toBeGreaterThanOrEqual(40_001);
  });
});

describe('the order in which spans arrive', () => {
  it('is that of their thread, one request at a time, whatever is repeated', async () => {
    const spans = await recorded(join(run, 'traces'), () => {
      for (let n = 0; n < 9000; n++) startSpan('one', { n }).end();
    });
    let answers = 0;
    receiver.answer = () => ({
      status: ++answers % 2 === 0 ? 200 : 503,
      headers: { 'retry-after': '0' },
    });
    const { child } = await shipOnce('--in-flight', '1');
    expect(child.exitCode).toBe(0);
    expect(receiver.spans.map(({ spanId }) => spanId)).toEqual(spans.map(({ spanId }) => spanId));
  });
});

describe('ship, if the target does not take everything', () => {
  const recordNumbered = (count: number) =>
    recorded(
      join(run, 'traces'),
      () => {
        for (let n = 0; n < count; n++) startSpan(n === 77 ? 'poison' : 'fine', { n }).end();
      },
      { service: 'numbers' },
    );

  it('repeats what was not answered, as the target asks', async () => {
    await recordNumbered(100);
    let times: number[] = [];
    receiver.answer = () => {
      times.push(performance.now());
      if (times.length === 1) return { status: 503, headers: { 'retry-after': '1' } };
      if (times.length === 2) return { status: 429 };
      if (times.length === 3) return { status: 200, cut: true, isKept: false };
      return { status: 200 };
    };
    const { output, child } = await shipOnce();
    expect(child.exitCode).toBe(0);
    expect(receiver.spans).toHaveLength(100);
    times = times.map((time) => time - times[0]!);
    expect(times[1]).toBeGreaterThan(950);
    expect(output).toContain('retrying: HTTP 503');
    expect(output).toContain('answers again');
  });

  it('finds the one span that is refused, and keeps it', async () => {
    await recordNumbered(100);
    receiver.answer = ({ spans }) =>
      spans.some(({ name }) => name === 'poison')
        ? { status: 400, body: 'a name is not allowed' }
        : { status: 200 };
    const refused = join(run, 'refused');
    const { output, child } = await shipOnce('--refused', refused);
    expect(child.exitCode).toBe(1);
    expect(receiver.spans).toHaveLength(99);
    expect(output).toContain('refuses 1 span for good: HTTP 400: a name is not allowed');
    const [name] = readdirSync(refused);
    const line = JSON.parse(readFileSync(join(refused, name!), 'utf8')) as Record<string, unknown>;
    expect(line['reason']).toBe('HTTP 400: a name is not allowed');
    expect(JSON.stringify(line['request'])).toContain('"name":"poison"');
    expect((await shipOnce()).output).toContain('0 spans sent');
  });

  it.each([413, 500])('sends less at once if %i is the answer to much', async (status) => {
    await recordNumbered(1000);
    receiver.answer = ({ spans }) => ({ status: spans.length > 300 ? status : 200 });
    const { child } = await shipOnce();
    expect(child.exitCode).toBe(0);
    expect(new Set(receiver.ids).size).toBe(1000);
    expect(receiver.ids).toHaveLength(1000);
  });

  it('counts what the target refuses of a request', async () => {
    await recordNumbered(10);
    // partial_success { rejected_spans: 3, error_message: "too old" }
    const body = Buffer.from([0x0a, 11, 0x08, 3, 0x12, 7, ...Buffer.from('too old')]);
    receiver.answer = () => ({ status: 200, body });
    const { output, child } = await shipOnce();
    expect(child.exitCode).toBe(1);
    expect(output).toContain('refuses 3 spans for good: too old');
    expect(output).toContain('7 spans sent');
  });

  it('stops for wrong credentials, keeps the checkpoint, and takes new ones', async () => {
    await recordNumbered(10);
    const headers = join(run, 'headers');
    writeFileSync(headers, '# for the test\nAuthorization: Bearer wrong-secret\n');
    receiver.answer = (request) =>
      request.headers.authorization === 'Bearer right-secret'
        ? { status: 200 }
        : { status: 401, body: `no: ${request.headers.authorization}` };
    const process = ship('--to', receiver.url, '--headers', headers);
    await vi.waitFor(
      () => {
        expect(process.output).toContain('stopped, asked once a minute: HTTP 401: no: ***');
      },
      { timeout: 30_000 },
    );
    expect(receiver.requests).toHaveLength(1);
    writeFileSync(headers, 'Authorization: Bearer right-secret\n');
    // What it reads again it tries at once.
    process.child.kill('SIGHUP');
    await untilReceived(10);
    expect(await process.end('SIGTERM')).toBe(0);
    expect(process.output).not.toContain('secret');
    expect(readFileSync(join(run, 'checkpoint'), 'utf8')).not.toContain('secret');
  });

  it('leaves the rest for the next run when it is ended', async () => {
    await recordNumbered(10);
    receiver.answer = () => ({ status: 503, headers: { 'retry-after': '600' } });
    const process = ship('--to', receiver.url);
    await vi.waitFor(
      () => {
        expect(process.output).toContain('retrying');
      },
      { timeout: 30_000 },
    );
    expect(await process.end('SIGTERM')).toBe(1);
    expect(process.output).toContain('the rest has not arrived');
    receiver.answer = () => ({ status: 200 });
    await shipOnce();
    expect(receiver.spans).toHaveLength(10);
  });
});

describe('ship, of files that are not as they should be', () => {
  it('names a damaged one and sends the others', async () => {
    killedTrace(join(run, 'traces', 'good.heph'), 5);
    writeFileSync(join(run, 'traces', 'bad.heph'), Buffer.alloc(5000, 'no trace '));
    const { output, child } = await shipOnce();
    expect(child.exitCode).toBe(1);
    expect(output).toContain('bad.heph');
    expect(receiver.spans).toHaveLength(11);
  });

  it('follows no link out of its paths', async () => {
    const outside = join(run, 'outside.heph');
    killedTrace(outside, 5);
    symlinkSync(outside, join(run, 'traces', 'link.heph'));
    symlinkSync(run, join(run, 'traces', 'around'));
    await shipOnce();
    expect(receiver.spans).toHaveLength(0);
  });

  it.skipIf(process.getuid?.() !== 0)('reads those of other users on request only', async () => {
    const target = join(run, 'traces', 'foreign.heph');
    killedTrace(join(run, 'killed.heph'), 5);
    copyFileSync(join(run, 'killed.heph'), target);
    chownSync(target, 12_345, 12_345);
    const { output } = await shipOnce();
    expect(output).toContain('belongs to user 12345');
    expect(receiver.spans).toHaveLength(0);
    await shipOnce('--owner', '12345');
    expect(receiver.spans.length).toBeGreaterThan(0);
  });

  it('follows no directory that becomes a link', async () => {
    const traces = join(run, 'traces', 'of-another');
    mkdirSync(traces);
    await recording({ target: join(traces, 'a.heph'), most: 10 });
    const process = ship('--to', receiver.url);
    await untilReceived(10);
    const outside = join(run, 'outside');
    mkdirSync(outside);
    killedTrace(join(outside, 'a.heph'), 6);
    renameSync(traces, join(run, 'moved'));
    symlinkSync(outside, traces);
    await vi.waitFor(
      () => {
        expect(process.output).toContain('leads out of the given paths');
      },
      { timeout: 60_000, interval: 20 },
    );
    expect(receiver.spans).toHaveLength(10);
    await process.end('SIGTERM');
  });

  it('deletes what has arrived, on request, and nothing that a ring names', async () => {
    const killed = join(run, 'traces', 'killed.heph');
    killedTrace(killed, 5);
    await recorded(join(run, 'traces'), () => {
      startSpan('one').end();
    });
    const files = readdirSync(join(run, 'traces')).filter((name) => name.endsWith('.heph'));
    for (const name of files) utimesSync(join(run, 'traces', name), 1000, 1000);
    await shipOnce('--delete');
    expect(existsSync(killed)).toBe(true);
    expect(readdirSync(join(run, 'traces')).filter((name) => name.endsWith('.heph'))).toEqual([
      'killed.heph',
    ]);
    expect(receiver.spans).toHaveLength(12);
  });
});

describe('the command line of ship', () => {
  it('refuses a checkpoint that another process uses', async () => {
    receiver.answer = () => ({ status: 503 });
    const first = ship('--to', receiver.url);
    await vi.waitFor(
      () => {
        expect(first.output).toContain('follows');
      },
      { timeout: 30_000 },
    );
    const second = await shipOnce();
    expect(second.child.exitCode).toBe(2);
    expect(second.output).toContain('another process ships with this checkpoint');
    await first.end('SIGTERM');
  });

  it.each([
    [['--to', 'ftp://127.0.0.1'], '--to must be a URL with http:, https:, nats:, tls: or file:'],
    [['--bandwidth', 'much'], '--bandwidth must be bytes a second'],
    [['--in-flight', '0'], '--in-flight must be a number from 1 to 64'],
    [['--owner', 'root'], '--owner must be a number of a user'],
    [['--resource', 'x'], '--resource must be NAME=VALUE'],
    [['--delete', '--match', 'service=a'], '--delete would delete spans that --match leaves out'],
    [['--compression', 'zip'], '--compression must be gzip or none'],
  ])('says what is wrong with %j', (args, message) => {
    const { status, stderr } = tracewright('ship', run, ...args);
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('takes the endpoint of the variables', async () => {
    await recorded(join(run, 'traces'), () => {
      startSpan('one').end();
    });
    const args = [join(run, 'traces'), '--once', '--checkpoint', join(run, 'checkpoint')];
    const base = new ShipProcess(args, {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/base/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
    });
    expect(await base.end()).toBe(0);
    const own = new ShipProcess(args, {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/as/is`,
    });
    expect(await own.end()).toBe(0);
    expect(receiver.requests.map(({ url, headers }) => [url, headers['x-key']])).toEqual([
      ['/base/v1/traces', 'a b'],
      ['/as/is', undefined],
    ]);
    const grpc = new ShipProcess(args, { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
    expect(await grpc.end()).toBe(2);
    expect(grpc.output).toContain('ship sends OTLP over HTTP alone');
  });
});
