import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withSpan } from '../../../src/spans/active-span.js';
import type { RemoteParent } from '../../../src/spans/context/remote-parent.js';
import { extract, sendSpan, withBaggage } from '../../../src/spans/propagation.js';
import { startSpan } from '../../../src/spans/start-span.js';
import type { Span } from '../../../src/spans/span.js';
import { recorded } from '../span-trace.js';

const directory = mkdtempSync(join(tmpdir(), 'tracewright-copied-'));

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const sent = `00-${TRACE}-${CALLER}-01`;
const others = {
  b3: `${TRACE}-${CALLER}-1`,
  'x-b3-traceid': TRACE,
  'x-b3-spanid': CALLER,
  'x-b3-parentspanid': '00f067aa0ba902b7',
  'uber-trace-id': `${TRACE}:${CALLER}:0:1`,
};

/** Sends a call's span with headers, as a gateway does that received `sent` three spans above. */
async function call(headers: Record<string, unknown>): Promise<{ own: Span; isSent: boolean }> {
  let called: { own: Span; isSent: boolean } | undefined;
  const handle = (): void => {
    withSpan('handler', {}, () => {
      const own = startSpan('call');
      called = { own, isSent: sendSpan(own, undefined, headers) };
    });
  };
  await recorded(directory, () => {
    const parent = extract({ traceparent: sent, tracestate: 'foo=1' })!;
    withSpan(
      'received',
      {},
      () => {
        withBaggage({ tenant: '7' }, handle);
      },
      { parent },
    );
  });
  return called!;
}

test('headers that were copied are replaced in every format, and baggage stays', async () => {
  const headers: Record<string, unknown> = {
    Traceparent: sent,
    tracestate: 'foo=1,tracewright=keep',
    baggage: 'a=1',
    ...others,
  };
  const { own, isSent } = await call(headers);
  const { trace_id, span_id } = own.ids;
  expect(isSent).toBe(true);
  expect(headers).toEqual({
    traceparent: `00-${trace_id}-${span_id}-01`,
    tracestate: 'foo=1',
    baggage: 'a=1',
    b3: `${TRACE}-${span_id}-1`,
    'x-b3-traceid': TRACE,
    'x-b3-spanid': span_id,
    'x-b3-sampled': '1',
    'uber-trace-id': `${TRACE}:${span_id}:0:01`,
  });
});

test.each([
  ['another span', { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` }, false],
  ['another trace', { traceparent: `00-${'ab'.repeat(16)}-${CALLER}-01` }, false],
  [
    'a signed header',
    {
      traceparent: sent,
      authorization: 'AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host;traceparent, Signature=b',
    },
    true,
  ],
  [
    'a signed header by RFC 9421',
    { traceparent: sent, 'signature-input': 'sig1=("traceparent");created=1' },
    true,
  ],
])('headers of %s stay', async (_, given, isSent) => {
  const headers = { ...given };
  expect((await call(headers)).isSent).toBe(isSent);
  expect(headers).toEqual(given);
});

test('headers of any message of a batch are copied ones', async () => {
  const senders = [sent, `00-${'ab'.repeat(16)}-${CALLER}-01`].map((traceparent) =>
    extract({ traceparent })!,
  );
  await recorded(directory, () => {
    withSpan(
      'batch',
      {},
      () => {
        for (const { ids } of senders) {
          const headers = { traceparent: Buffer.from(`00-${ids!.trace_id}-${ids!.span_id}-01`) };
          const own = startSpan('publish');
          expect(sendSpan(own, undefined, headers)).toBe(true);
          expect(headers.traceparent).toBe(`00-${own.ids.trace_id}-${own.ids.span_id}-03`);
        }
      },
      { parent: null, links: senders.map((to: RemoteParent) => ({ to })) },
    );
  });
});
