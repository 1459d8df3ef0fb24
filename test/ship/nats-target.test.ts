import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { nameToken } from '../../src/ship/name-token.js';
import { natsSettings } from '../../src/ship/nats-settings.js';
import { NatsTarget } from '../../src/ship/nats-target.js';
import type { ShipBatch } from '../../src/ship/target.js';
import type { SpanRecord } from '../../src/spans/span-record.js';
import { configure, flush, shutdown } from '../../src/spans/recording.js';
import { startSpan } from '../../src/spans/start-span.js';
import { main, tracewright } from '../cli/run-command.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { describeWith } from '../libraries/servers.js';
import { recorded } from '../spans/span-trace.js';
import { SERVER, spanIds, TestStreams } from './nats-stream-messages.js';

const directory = temporaryDirectory();
const never = new AbortController().signal;

const batchOf = (spans: SpanRecord[]): ShipBatch => ({
  spans,
  producers: spans.map(() => '/traces/a.heph'),
  counters: spans.map((_, i) => i),
});

function record(count: number, attribute = ''): void {
  for (let i = 0; i < count; i++) startSpan('work', { attribute }).end();
}

it('writes a name as one token of a subject', () => {
  expect(nameToken('shop')).toBe('shop');
  expect(nameToken('a.b c>*%/ü')).toBe('a%2Eb%20c%3E%2A%25%2F%C3%BC');
  expect(nameToken('\ud800')).toBe('%EF%BF%BD');
  expect(nameToken('x'.repeat(5000))).toHaveLength(128);
});

it('takes a user from the URL or the variables, and names neither', () => {
  const settings = natsSettings('nats://me:s%3Acret@host/spans', '7d,10G', {});
  expect(settings).toMatchObject({
    label: 'nats://host:4222/spans',
    user: 'me',
    password: 's:cret',
    create: { ageMs: 7 * 86_400_000, bytes: 1e10 },
  });
  expect(natsSettings('nats://host', undefined, { NATS_TOKEN: 't' }).token).toBe('t');
  expect(natsSettings('nats://token@host', undefined, { NATS_USER: 'u' })).toMatchObject({
    token: 'token',
    user: undefined,
  });
  expect(() => natsSettings('nats://me:secret@host/a.b', undefined, {})).not.toThrow(/secret/);
  expect(() => natsSettings('nats://host/a.b', undefined, {})).toThrow('one token');
  expect(() => natsSettings('nats://host', '7 days', {})).toThrow('such as 7d or 7d,10G');
});

await describeWith(['NATS'], 'NATS JetStream', () => {
  const notes: string[] = [];
  const opened = TestStreams.open();
  const targetOf = (subject: string, create?: string): NatsTarget =>
    new NatsTarget(natsSettings(`nats://${SERVER}/${subject}`, create, {}), (text) => {
      notes.push(text);
    });

  it('needs a stream, makes one, and stores a message a process once', async () => {
    const streams = await opened;
    const subject = streams.subject();
    const spans = await recorded(
      directory,
      () => {
        record(10);
      },
      {
        service: 'shop.web 1',
        resource: { 'host.name': 'hôst' },
      },
    );
    const without = targetOf(subject);
    const refusal = await without.send(batchOf(spans), never);
    expect(refusal.kind).toBe('stopped');
    expect(refusal).toHaveProperty(
      'reason',
      `no stream takes ${subject}.*: --create-stream 7d makes one`,
    );
    await without.close();

    const target = targetOf(subject, '2d,50M');
    expect(await target.send(batchOf(spans), never)).toEqual({ kind: 'accepted' });
    // As after a lost acknowledgement.
    expect(await target.send(batchOf(spans), never)).toEqual({ kind: 'accepted' });
    await target.close();
    const { config } = await streams.manager.streams.info(subject.toUpperCase());
    expect(config).toMatchObject({ max_age: 172_800e9, max_bytes: 50e6, duplicate_window: 900e9 });
    const messages = await streams.messages(subject);
    expect(messages).toHaveLength(1);
    expect(messages[0]!.subject).toBe(`${subject}.shop%2Eweb%201`);
    expect(messages[0]!.header.get('Content-Type')).toBe('application/x-protobuf');
    expect(messages[0]!.header.get('Tracewright-Host')).toBe('h?st');
    expect(messages[0]!.header.get('Tracewright-Pid')).toBe(String(process.pid));
    expect(messages[0]!.header.get('Tracewright-Spans')).toBe('10');
    expect(spanIds(messages[0]!)).toEqual(spans.map(({ spanId }) => spanId));
  });

  it('cuts at what the server takes, and refuses a span that is larger', async () => {
    const streams = await opened;
    const subject = streams.subject();
    const target = targetOf(subject, '1h');
    const spans = await recorded(
      directory,
      () => {
        record(80, 'x'.repeat(30_000));
      },
      {
        limits: { valueLength: 1 << 22 },
      },
    );
    expect(await target.send(batchOf(spans), never)).toEqual({ kind: 'accepted' });
    const messages = await streams.messages(subject);
    expect(messages.length).toBeGreaterThan(1);
    for (const { data } of messages) expect(data.length).toBeLessThanOrEqual(1 << 20);
    expect(messages.flatMap(spanIds).sort()).toEqual(spans.map(({ spanId }) => spanId).sort());
    const large = { ...spans[0]!, attributes: { large: 'x'.repeat(2 << 20) } };
    const outcome = await target.send(batchOf([spans[1]!, large]), never);
    expect(outcome.kind).toBe('refused');
    expect(await streams.messages(subject)).toHaveLength(messages.length);
    await target.close();
  });

  it('says that a stream forgets ids too early', async () => {
    const streams = await opened;
    const subject = streams.subject();
    await streams.manager.streams.add({
      name: subject.toUpperCase(),
      subjects: [`${subject}.>`],
      duplicate_window: 60e9,
    });
    const target = targetOf(subject);
    const spans = await recorded(directory, () => {
      record(1);
    });
    expect(await target.send(batchOf(spans), never)).toEqual({ kind: 'accepted' });
    expect(notes.at(-1)).toContain('forgets ids of messages after 60 seconds');
    await target.close();
  });

  it('retries when no server answers, and ends at once when it is told', async () => {
    const target = new NatsTarget(
      natsSettings('nats://127.0.0.1:1/x', undefined, {}),
      () => undefined,
    );
    const spans = await recorded(directory, () => {
      record(1);
    });
    expect(await target.send(batchOf(spans), never)).toMatchObject({ kind: 'retry' });
    expect(await target.send(batchOf(spans), AbortSignal.abort())).toMatchObject({ kind: 'retry' });
    await target.close();
  });

  it('repeats after a kill what was on its way as it was cut', { timeout: 60_000 }, async () => {
    const streams = await opened;
    const subject = streams.subject();
    const traces = join(directory, 'growing');
    mkdirSync(traces);
    const checkpoint = join(directory, 'checkpoint.json');
    const args = [
      'ship',
      traces,
      '--to',
      `nats://${SERVER}/${subject}`,
      '--checkpoint',
      checkpoint,
    ];
    configure({ target: join(traces, 'a.heph') });
    try {
      record(50);
      await flush();
      const ship = spawn(process.execPath, [main, ...args, '--create-stream', '1h'], {
        stdio: 'ignore',
      });
      try {
        await expect
          .poll(() => streams.messages(subject).catch(() => []), { timeout: 20_000 })
          .not.toEqual([]);
      } finally {
        ship.kill('SIGKILL');
      }
      await once(ship, 'exit');
      record(70);
      await flush();
      const run = tracewright(...args, '--once');
      expect(run.status, run.stderr).toBe(0);
      const all = (await streams.messages(subject)).flatMap(spanIds);
      expect(all).toHaveLength(120);
      expect(new Set(all).size).toBe(120);
    } finally {
      await shutdown();
    }
  });
});
