import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { requestJson } from '../../src/export/otlp/otlp-json.js';
import { groupSpans } from '../../src/export/otlp/span-batches.js';
import { extract } from '../../src/spans/propagation.js';
import { startSpan } from '../../src/spans/start-span.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { allSpans, recorded } from '../spans/span-trace.js';
import { killedTrace, ShipProcess } from './shipped.js';

const directory = temporaryDirectory();
/** OpenTelemetry's own schema, at commit ac2c4b5. */
const schema = fileURLToPath(new URL('../export/opentelemetry-proto', import.meta.url));
const MESSAGE = 'opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest';
const hasProtoc = spawnSync('protoc', ['--version']).status === 0;

type Json = Record<string, unknown>;
const REPEATED = new Set([
  'resourceSpans',
  'scopeSpans',
  'spans',
  'attributes',
  'events',
  'links',
  'values',
]);
const IDS = new Set(['traceId', 'spanId', 'parentSpanId']);
const KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'];
const CODES = ['UNSET', 'OK', 'ERROR'];

/** The bytes of a text of protoc: octal digits and letters follow a backslash. */
function bytesOf(text: string): Buffer {
  const letters: Record<string, string> = { n: '\n', r: '\r', t: '\t' };
  const plain = text.slice(1, -1).replace(/\\([0-7]{1,3}|.)/gs, (_, escaped: string) => {
    if (/^[0-7]/.test(escaped)) return String.fromCharCode(parseInt(escaped, 8));
    return letters[escaped] ?? escaped;
  });
  return Buffer.from(plain, 'latin1');
}

/** A field as OTLP's JSON has it. */
function valueOf(name: string, text: string): unknown {
  if (text.startsWith('"')) {
    const bytes = bytesOf(text);
    if (IDS.has(name)) return bytes.toString('hex');
    return bytes.toString(name === 'bytesValue' ? 'base64' : 'utf8');
  }
  if (text.startsWith('SPAN_KIND_')) return KINDS.indexOf(text.slice('SPAN_KIND_'.length));
  if (text.startsWith('STATUS_CODE_')) return CODES.indexOf(text.slice('STATUS_CODE_'.length));
  return text === 'true' || text === 'false' ? text === 'true' : text;
}

/** What `protoc --decode` prints of a message. */
function decoded(body: Buffer): Json {
  const { status, stdout, stderr } = spawnSync(
    'protoc',
    [
      `--decode=${MESSAGE}`,
      '-I',
      schema,
      'opentelemetry/proto/collector/trace/v1/trace_service.proto',
    ],
    { input: body, encoding: 'utf8', maxBuffer: 1 << 30 },
  );
  expect(stderr).toBe('');
  expect(status).toBe(0);
  const root: Json = {};
  const open = [root];
  for (const line of stdout.split('\n')) {
    const [, name = '', value] = /^ *(\w+)(?:: (.*)| \{)$/.exec(line) ?? [];
    if (name === '') {
      if (line.trim() === '}') open.pop();
      continue;
    }
    // A field that the schema does not have is printed by its number.
    expect(name).not.toMatch(/^\d/);
    const camel = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const to = open.at(-1)!;
    const child: unknown = value === undefined ? {} : valueOf(camel, value);
    if (REPEATED.has(camel)) ((to[camel] ??= []) as unknown[]).push(child);
    else to[camel] = child;
    if (value === undefined) open.push(child as Json);
  }
  return root;
}

/** Without fields that have no value, which only one of both forms writes, and with all numbers as texts. */
function plain(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => plain(each));
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, plain(each, key)] as const);
  const isEmpty = (key: string, each: unknown): boolean => {
    if (key.endsWith('Value')) return false;
    return each === '' || each === '0' || (Array.isArray(each) && each.length === 0);
  };
  const kept = entries.filter(([key, each]) => !isEmpty(key, each));
  return name === 'scope' && kept.length === 0 ? {} : Object.fromEntries(kept);
}

it.skipIf(!hasProtoc)('what ship sends is what protoc reads by the official schema', async () => {
  const traces = join(directory, 'traces');
  mkdirSync(traces);
  const values = {
    text: 'straße "quoted" \\ \n 🎈',
    integer: -5,
    large: 2 ** 53 - 1,
    beyond: 2n ** 62n,
    float: 0.1,
    yes: true,
    no: false,
    zero: 0,
    empty: '',
    texts: ['a', ''],
    numbers: [1, -2, 0.5],
  };
  await recorded(
    traces,
    () => {
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const parent = extract({ traceparent, tracestate: 'a=b' })!;
      for (const kind of ['internal', 'server', 'client', 'producer', 'consumer'] as const) {
        const span = startSpan('GET /straße', values, { kind, parent });
        span.event('row', values);
        const link = { to: span, attributes: values };
        startSpan('below', {}, { parent: span, links: [link] }).end();
        span.fail(new Error('lost'));
        span.end();
      }
      for (let n = 0; n < 3000; n++) startSpan('numbered', { n }).end();
    },
    { service: 'shop' },
  );
  killedTrace(join(traces, 'killed.heph'), 20);
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(gunzipSync(Buffer.concat(chunks)));
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const args = [traces, '--to', url, '--once', '--checkpoint', join(directory, 'checkpoint')];
    expect(await new ShipProcess(args).end()).toBe(0);
  } finally {
    server.close();
  }
  const spansById = (requests: Json[]): Map<string, unknown> => {
    const found = new Map<string, unknown>();
    for (const { resource, scopeSpans } of requests.flatMap(
      (each) => each['resourceSpans'] as Json[],
    )) {
      for (const { scope, spans } of scopeSpans as Json[]) {
        for (const span of spans as Json[]) {
          found.set(span['spanId'] as string, plain({ span, scope: scope ?? {}, resource }));
        }
      }
    }
    return found;
  };
  const spans = await allSpans(traces);
  const expected = spansById([JSON.parse(requestJson(groupSpans(spans))) as Json]);
  const received = spansById(bodies.map(decoded));
  expect(expected.size).toBe(spans.length);
  expect(received).toEqual(expected);
});
