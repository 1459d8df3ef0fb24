// Next.js has spans of kind server of its own below the request, and hands them on in the request's headers. Its other
// spans say the route, the first one that of the request. A page that fails is replaced by one that shows the error.
import { createServer } from 'node:http';
import { context, propagation, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /broken/[id] 500 !500
  server GET
    server GET
      own query
server GET /docs/[...slug] 404
  server GET
    server GET
      own query
server GET /users/[id] 200
  server GET
    server GET
      own query
`;
export const difference =
  'OpenTelemetry has no route for a server of node:http: what the framework says stays on its own spans.';

const NEXT = Symbol.for('NextInternalRequestMeta');
const tracer = trace.getTracer('next.js');

/** As the router finds a page, and as the last one found is kept on the request. */
function resolvePage(request, page) {
  request[NEXT] = { match: { definition: { pathname: page } } };
  const attributes = { 'next.route': page };
  tracer.startActiveSpan('resolve page components', { attributes }, (span) => span.end());
}

function render(request, response) {
  const page = {
    '/users/1': '/users/[id]',
    '/docs/a/b': '/docs/[...slug]',
    '/broken/1': '/broken/[id]',
  }[request.url];
  resolvePage(request, page);
  // What a page asks of the application itself, as SvelteKit does without a request.
  resolvePage(request, '/api/stock');
  own('query');
  if (page.startsWith('/broken')) {
    for (const each of ['/500', '/_error']) resolvePage(request, each);
    response.statusCode = 500;
  } else if (page.startsWith('/docs')) {
    resolvePage(request, '/_not-found');
    response.statusCode = 404;
  }
  response.end();
}

export async function run() {
  const server = createServer((request, response) => {
    const { method } = request;
    tracer.startActiveSpan(method, { kind: SpanKind.SERVER }, (proxy) => {
      propagation.inject(context.active(), request.headers);
      proxy.end();
    });
    context.with(propagation.extract(ROOT_CONTEXT, request.headers), () =>
      tracer.startActiveSpan(method, { kind: SpanKind.SERVER }, (span) => {
        render(request, response);
        span.end();
      }),
    );
  });
  const url = await listen(server);
  for (const path of ['/users/1', '/docs/a/b', '/broken/1']) await ask(url + path);
}
