import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { EventWriter } from '../../src/spans/write/event-writer.js';
import { encodeSpan, PORTIONS } from '../../src/spans/write/span-encoder.js';
import { Span } from '../../src/spans/span.js';
import { extract } from '../../src/spans/propagation.js';
import { checkLimits } from '../../src/spans/limits.js';
import { encodeEpoch } from '../heph/byte-by-byte-encoder.js';
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
    sampler: { ratio: 1, parentBased: true },
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
