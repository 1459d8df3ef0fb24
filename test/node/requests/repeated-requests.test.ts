import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { readSpans } from '../../../src/spans/index.js';
import type { SpanRecord } from '../../../src/spans/index.js';
import { TracedProcess } from '../traced-process.js';
import { faultsOf, hephFiles } from '../written-traces.js';

const PATHS = [
  ...['plain', 'routed/7', 'foreign', 'set', 'changed', 'renamed', 'marked', 'event', 'missing'],
  ...['failed', 'child', 'gr%C3%B6%C3%9Fe', `${'long/'.repeat(40)}?query`, 'x'.repeat(1000)],
].map((path) => `/${path}`);
const TIMES = 4;

/** The spans of a service that gets each request several times, and dies with two of them open. */
async function spansWith(env: Record<string, string>): Promise<SpanRecord[]> {
  const service = new TracedProcess('repeating-service.mjs', {
    env: { TRACEWRIGHT_CONTEXT: 'on', ...env },
  });
  const port = await service.port();
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.resume();
  for (const path of PATHS) {
    for (let n = 0; n < TIMES; n++) socket.write(`GET ${path} HTTP/1.1\r\nHost: api.test\r\n\r\n`);
    await service.printed(new RegExp(`(?:^done ${path.replace('?', '.')}\n[^]*){${TIMES}}`, 'm'));
  }
  for (const method of ['GET', 'PUT', 'GET', 'PUT', 'LOCK', 'LOCK']) {
    socket.write(`${method} /plain/x HTTP/1.1\r\nHost: api.test\r\n\r\n`);
  }
  for (const path of ['hold', 'hold-routed']) {
    socket.write(`GET /${path} HTTP/1.1\r\nHost: api.test:81\r\n\r\n`);
  }
  await service.printed(/^held\nheld$/m).catch(() => undefined);
  await sleep(20);
  service.kill('SIGTERM');
  await service.ended();
  socket.destroy();
  expect(faultsOf(service.directory)).toEqual([]);
  const spans: SpanRecord[] = [];
  for await (const span of readSpans(hephFiles(service.directory))) spans.push(span);
  return spans;
}

/** What of a span is the same each time. */
function content({
  name,
  kind,
  attributes,
  events,
  links,
  status,
  flags,
  dropped,
  scope,
}: SpanRecord) {
  const happened = events.map((event) => ({ name: event.name, attributes: event.attributes }));
  return { name, kind, attributes, events: happened, links, status, flags, dropped, scope };
}

it('requests are recorded alike, whether they come for the first time or again', async () => {
  const kept = await spansWith({});
  // Without places for open spans every span is encoded at its end.
  const plain = await spansWith({ TRACEWRIGHT_OPEN_SPANS: '0' });
  for (const path of new Set(kept.map(({ attributes }) => attributes['url.path']))) {
    const of = (spans: SpanRecord[]) =>
      spans
        .filter(({ unfinished, attributes }) => !unfinished && attributes['url.path'] === path)
        .map(content);
    expect(of(kept)).toEqual(of(plain));
    if (String(path).startsWith('/hold')) continue;
    const [first, ...others] = of(kept);
    if (path !== '/plain/x') for (const other of others) expect(other).toEqual(first);
  }
  const named = (name: string) => kept.filter((span) => span.name === name);
  expect(named('GET /routed/:id')).toHaveLength(TIMES);
  expect(named('GET /größe/:名/😀')).toHaveLength(TIMES);
  expect(named('renamed')).toHaveLength(TIMES);
  expect(named('GET /failed')[0]).toMatchObject({ status: { code: 'error' } });
  expect(named('step')).toHaveLength(TIMES);
  const held = kept.filter(({ unfinished }) => unfinished);
  const request = {
    'http.request.method': 'GET',
    'url.scheme': 'http',
    'network.protocol.version': '1.1',
    'server.address': 'api.test',
    'server.port': 81,
  };
  expect(held.map(({ name, attributes }) => ({ name, attributes }))).toEqual([
    { name: 'GET', attributes: { ...request, 'url.path': '/hold' } },
    {
      name: 'GET /held/:id',
      attributes: { ...request, 'url.path': '/hold-routed', 'http.route': '/held/:id' },
    },
  ]);
});
