import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { EventWriter } from '../../src/spans/write/event-writer.js';
import { encodeSpan, PORTIONS } from '../../src/spans/write/span-encoder.js';
import { Span } from '../../src/spans/span.js';
import { extract } from '../../src/spans/propagation.js';
import { checkLimits } from '../../src/spans/limits.js';
import { checkSampler } from '../../src/spans/sampling.js';
import { encodeEpoch, encodeEvent, someEvent } from '../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../heph/temporary-file.js';
import { allSpans } from './span-trace.js';

const page = readFileSync(
  fileURLToPath(new URL('../../docs/formats/spans.md', import.meta.url)),
  'utf8',
);

/** The bytes of the worked example: hexadecimal words, up to two spaces. */
function workedExample(): Buffer {
  const [, block] = /## Example\n[^]*?```\n([^]*?)```/.exec(page)!;
  const words = block!
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/)[0]!.replace('"GET"', ''));
  return Buffer.from(words.join('').replaceAll(/[^\da-f]/g, ''), 'hex');
}

const directory = temporaryDirectory();

test('the worked example is what is written, byte for byte', () => {
  const parent = extract({
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  })!.parent!;
  const [t0, t1, t2, t3] = parent.trace;
  const [s0, s1] = parent.span;
  const flags = 1 | (1 << 8);
  const span = new Span(undefined, 1, 'GET', t0, t1, t2, t3, s0, s1, 0, 0, flags, '', undefined);
  span.start = 100;
  span.attributes = { ok: true };
  const recording = { stream: 0, counter: 0, resource: 1, end: 200, flags: 0 };
  const policy = {
    limits: checkLimits(),
    redactor: undefined,
    sampler: checkSampler(1),
  };
  const bytes = encodeSpan(new EventWriter(), span, recording, policy, PORTIONS[0]!);
  expect(bytes.toString('hex')).toBe(workedExample().toString('hex'));
});

test('the worked example is read as the page says', async () => {
  const path = writeTrace(directory, 'example.heph', encodeEpoch(1000n), workedExample());
  expect(await allSpans(path)).toEqual([
    {
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      parentIsRemote: false,
      name: 'GET',
      kind: 'server',
      start: 1100n,
      end: 1200n,
      attributes: { ok: true },
      events: [],
      links: [],
      status: { code: 'unset', message: '' },
      flags: 1,
      traceState: '',
      dropped: { attributes: 0, events: 0, links: 0 },
      thread: 0,
      unfinished: false,
    },
  ]);
});

const u64 = (name: string, value: bigint) => ({ name, type: 'u64', value }) as const;
const string = (name: string, value: string) => ({ name, type: 'string', value }) as const;

test('what a later contract may add is ignored', async () => {
  // Kind 7, status 3, bit 15, resource 9, and scope 9 below a bit above it: none of them is known.
  const flags = 0x8000_0009_0009_9f01n;
  const span = someEvent({
    description: 'later',
    substream: 2n,
    attributes: [
      ...[u64('~t', 1n), u64('~s', 3n), u64('~p', 0n), u64('~f', flags)],
      ...[u64('a', 1n), string('~!', ''), string('~q', 'field'), u64('b', 2n)],
      ...[string('~E', 'event'), u64('~z', 1n), u64('c', 3n)],
      ...[string('~Z', 'section'), u64('d', 4n), u64('~d', 5n)],
      ...[u64('~L', 1n), u64('~l', 2n), u64('~s', 4n), u64('~f', 1n), u64('~y', 1n), u64('e', 5n)],
    ],
  });
  const path = writeTrace(directory, 'later.heph', encodeEpoch(1000n), encodeEvent(span));
  const [read, ...others] = await allSpans(path);
  expect(others).toEqual([]);
  expect(read).toMatchObject({
    kind: 'internal',
    status: { code: 'unset', message: '' },
    flags: 1,
    unfinished: false,
    attributes: { a: 1, b: 2 },
  });
  expect(read!.events.map(({ name, attributes }) => [name, attributes])).toEqual([
    ['event', { c: 3 }],
  ]);
  expect(read!.links.map(({ spanId, attributes }) => [spanId, attributes])).toEqual([
    ['0000000000000004', { e: 5 }],
  ]);
  expect(read!.resource).toBeUndefined();
  expect(read!.scope).toBeUndefined();
});

test('a later version of the contract is an error', async () => {
  const definition = (version: bigint) =>
    encodeEvent(
      someEvent({
        stream: 0xffff_ffff,
        counter: 1,
        description: 'tracewright.resource',
        attributes: [u64('~v', version), string('service.name', 'shop')],
      }),
    );
  const fileOf = (version: bigint) =>
    writeTrace(directory, `v${version}.heph`, encodeEpoch(1000n), definition(version));
  expect(await allSpans(fileOf(1n))).toEqual([]);
  expect(await allSpans(fileOf(2n))).toEqual([]);
  await expect(allSpans(fileOf(3n))).rejects.toThrow('version 3 of their contract');
});
