import { expect, it } from 'vitest';
import { SpanMetrics } from '../../../src/ship/span-metrics.js';
import { readSpans } from '../../../src/spans/index.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { recording, reportOn } from './recorded-service.js';

const SPANS = 3;

/** A framework has its own spans of a request below the one of the server, as Next.js has. */
function serve(count: number): void {
  for (let n = 0; n < count; n++) {
    const root = startSpan('GET /users/[id]', {}, { parent: null, kind: 'server' });
    const proxy = startSpan('proxy GET', {}, { parent: root, kind: 'server' });
    const inner = startSpan('resolve page', {}, { parent: root });
    const page = startSpan('GET /users/[id]', {}, { parent: inner, kind: 'server' });
    page.fail();
    page.end();
    inner.end();
    proxy.end();
    if (n === 0) root.fail();
    root.end();
  }
}

it('a server span below one of its process is no request in the metrics of ship', async () => {
  const { path } = await recording(
    () => {
      serve(SPANS);
    },
    { service: 'shop' },
  );
  const metrics = new SpanMetrics();
  for await (const span of readSpans(path)) metrics.add(span);
  const [route, ...others] = [...metrics.families].flatMap(([, series]) => [...series]);
  expect(route).toMatchObject({ count: SPANS, errors: 1 });
  expect(others).toEqual([]);
});

it.each([
  ['kept', undefined],
  ['released', { errors: true, limit: false } as const],
])('a server span below one of its process is no request: %s', async (_, keep) => {
  const { path } = await recording(
    () => {
      serve(SPANS);
    },
    { service: 'shop', ...(keep === undefined ? {} : { keep }) },
  );
  const { report } = await reportOn([path], { by: 'route' });
  expect(report.groups.map(({ name, kind, count, errors }) => [name, kind, count, errors])).toEqual(
    [['GET /users/[id]', 'server', SPANS, 1]],
  );
});
