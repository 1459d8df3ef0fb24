import { describe, expect, it } from 'vitest';
import { extract, startSpan } from '../../../../src/spans/index.js';
import type { RemoteParent, Span, SpanKind } from '../../../../src/spans/index.js';
import { requestsOf } from '../../../../src/look/report/print/interruption-texts.js';
import type { Report } from '../../../../src/look/report/shape/report-shape.js';
import { recording, reportOn } from '../recorded-service.js';

const begin = BigInt(Date.now() - 60_000) * 1_000_000n;
const at = (ms: number): bigint => begin + BigInt(ms) * 1_000_000n;

function span(
  name: string,
  [from, to]: [number, number],
  kind: SpanKind,
  parent: Span | RemoteParent | null = null,
): Span {
  const made = startSpan(name, {}, { kind, parent, startTime: at(from) });
  made.end(at(to));
  return made;
}

/** As the service of a call has it by headers. */
function callerOf(call: Span): RemoteParent {
  const { trace_id: trace, span_id: id } = call.ids;
  return extract({ traceparent: `00-${trace}-${id}-01` })!;
}

/** The turn from 100 to 400 ms, in which `burn` ran. */
function stall(request?: Span): void {
  const of = request === undefined ? {} : { 'eventloop.request': 'GET /burn' };
  startSpan(
    'event loop blocked',
    { 'eventloop.cause': 'code', 'code.stacktrace': 'at burn (/app/a.js:7:3)', ...of },
    {
      parent: null,
      startTime: at(100),
      ...(request === undefined ? {} : { links: [{ to: request }] }),
    },
  ).end(at(400));
}

async function reportOf(record: () => void): Promise<Report> {
  const { path } = await recording(record, { service: 'shop' });
  return (await reportOn([path])).report;
}

/** What most of the time of `GET /a` was. */
async function longestWait(record: () => void): Promise<string> {
  const report = await reportOf(record);
  const { waitedFor } = report.groups.find(({ name }) => name === 'GET /a')!;
  const { kind, name, share } = waitedFor.toSorted((a, b) => b.share - a.share)[0]!;
  expect(share).toBeGreaterThan(0.8);
  return kind === 'blocked' ? name : `${kind} ${name}`;
}

describe('a call that begins in the turn that stalls', () => {
  it('has waited for the code that ran, if another request began meanwhile', async () => {
    const waited = await longestWait(() => {
      const request = span('GET /a', [100, 400], 'server');
      span('SELECT users', [101, 399], 'client', request);
      span('GET /burn', [102, 398], 'server');
      stall();
    });
    expect(waited).toBe('blocked by burn (app/a.js:7)');
  });

  it.each([false, true])(
    'and kept it has its own time: it was synchronous (request known: %s)',
    async (isKnown) => {
      const waited = await longestWait(() => {
        const request = span('GET /a', [100, 400], 'server');
        span('SELECT users', [101, 399], 'client', request);
        stall(isKnown ? request : undefined);
      });
      expect(waited).toBe('span SELECT users');
    },
  );

  it('has waited if it reached its service in the next turn, though it ended later', async () => {
    const waited = await longestWait(() => {
      const request = span('GET /a', [100, 440], 'server');
      const call = span('GET prices', [101, 435], 'client', request);
      span('GET /price', [400, 430], 'server', callerOf(call));
      stall();
    });
    expect(waited).toBe('blocked by burn (app/a.js:7)');
  });

  it('has not waited if its service had it before', async () => {
    const waited = await longestWait(() => {
      const request = span('GET /a', [100, 1440], 'server');
      const call = span('GET prices', [101, 1435], 'client', request);
      span('GET /price', [102, 1430], 'server', callerOf(call));
      span('GET /burn', [102, 398], 'server');
      stall();
    });
    expect(waited).toMatch(/GET \/price$/);
  });
});

it('a call that began before a stall and ended in it has waited for its code', async () => {
  const waited = await longestWait(() => {
    const request = span('GET /a', [95, 400], 'server');
    span('SELECT users', [96, 399], 'client', request);
    stall();
  });
  expect(waited).toBe('blocked by burn (app/a.js:7)');
});

it('code that nobody knows the request of has delayed those that waited for a call', async () => {
  const { interruptions } = await reportOf(() => {
    const waits = span('GET /a', [95, 420], 'server');
    span('SELECT users', [96, 401], 'client', waits);
    span('SELECT more', [97, 402], 'client', waits);
    // One of these has run the code itself.
    const runs = span('GET /b', [100, 460], 'server');
    span('SELECT later', [402, 459], 'client', runs);
    span('GET /c', [90, 450], 'server');
    stall();
  });
  expect(interruptions.lines).toMatchObject([
    { line: '/app/a.js:7', requests: [{ name: 'GET /a', count: 1 }] },
  ]);
});

it('what blocked a few of many requests is counted exactly, and no more time than they took', async () => {
  const { groups } = await reportOf(() => {
    for (let i = 0; i < 1000; i++) {
      const from = 1000 + 20 * i;
      const request = span('GET /a', [from, from + 1 + (i % 13)], 'server');
      span('SELECT users', [from, from + 1], 'client', request);
    }
    for (let i = 0; i < 5; i++) span('GET /a', [80 + i, 401], 'server');
    stall(span('GET /burn', [100, 400], 'server'));
  });
  const { total, blocked, waitedFor, sampled } = groups.find(({ name }) => name === 'GET /a')!;
  expect(sampled).toBeLessThan(200);
  expect(blocked!.isEstimate).toBe(false);
  expect(blocked!.share * total).toBeCloseTo(5 * 300e6, -5);
  expect(waitedFor.reduce((sum, { time }) => sum + time, 0)).toBeCloseTo(total, -5);
});

it('delayed requests are counted once with those below them; unread ones waited before they began', async () => {
  const { interruptions } = await reportOf(() => {
    const outer = span('GET /a', [90, 450], 'server');
    span(
      'GET /below',
      [95, 440],
      'server',
      callerOf(span('GET below', [92, 445], 'client', outer)),
    );
    span('GET /late', [399, 405], 'server');
    span('GET /both', [90, 410], 'server');
    span('GET /both', [398, 406], 'server');
    stall(span('GET /burn', [101, 398], 'server'));
  });
  const [{ requests, waited }] = interruptions.lines as [Report['interruptions']['lines'][number]];
  expect(waited / 1e6).toBeCloseTo(300 + 1 + 300 + 2, 3);
  const texts = requestsOf(requests.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
  expect(texts.map((item) => item.join(' '))).toEqual([
    'GET /a 1',
    'GET /below 1',
    'GET /both 2',
    'GET /late 1 unread',
  ]);
});
