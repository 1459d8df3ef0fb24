// Two services in one trace: the shop asks the stock, and both record what they do.
//
//   node examples/two-services.mjs [DIRECTORY]

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configure, extract, inject, readSpans, shutdown, withSpan } from 'tracewright/spans';

const [, , directory = 'traces/two-services', role] = process.argv;

/** The other service: answers one request, then ends. */
async function stock() {
  configure({ target: join(directory, `stock-${process.pid}.heph`), service: 'stock' });
  const server = createServer((request, response) => {
    const parent = extract(request.headers) ?? null;
    const answer = () => {
      withSpan('look up', { item: 'tea' }, (span) => span.set('found', 3));
      response.end('3');
    };
    withSpan('GET /stock', undefined, answer, { kind: 'server', parent });
    server.close();
  });
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
  await once(server, 'close');
  await shutdown();
  process.disconnect();
}

async function shop() {
  mkdirSync(directory, { recursive: true });
  const child = fork(fileURLToPath(import.meta.url), [directory, 'stock']);
  const [{ port }] = await once(child, 'message');
  configure({ target: join(directory, `shop-${process.pid}.heph`), service: 'shop' });
  await withSpan('order tea', { count: 2 }, async () => {
    const ask = () => fetch(`http://127.0.0.1:${port}/stock`, { headers: inject({}) });
    const response = await withSpan('ask stock', undefined, ask, { kind: 'client' });
    await response.text();
  });
  await shutdown();
  if (child.exitCode === null) await once(child, 'exit');

  for await (const span of readSpans(directory)) {
    const service = span.resource?.attributes['service.name'];
    console.log(
      span.traceId.slice(0, 8),
      span.spanId,
      span.parentSpanId ?? '-',
      service,
      span.name,
    );
  }
}

await (role === 'stock' ? stock() : shop());
