import { BoundedCache } from '../../core/bounded-cache.js';
import type { SpanValue } from '../../spans/attributes.js';
import { OTHER_METHOD } from '../../spans/conventions.js';
import { KIND_SHIFT, KINDS } from '../../spans/layout.js';
import type { Span } from '../../spans/span.js';
import { SpanTemplate } from '../../spans/write/span-template.js';
import { HTTP_SCOPE, knownMethod, serverAttributes, spanName } from './conventions.js';

/** What requests of many paths have in common. */
export interface ServerRequest {
  method: string;
  scheme: string;
  version: string;
  /** As the caller has sent it, and what it says. */
  authority: string;
  host: string | undefined;
  port: number | undefined;
}

/** One that a recorder fills anew for each request. */
export function emptyRequest(): ServerRequest {
  return {
    method: '',
    scheme: '',
    version: '',
    authority: '',
    host: undefined,
    port: undefined,
  };
}

/** Routes for which the name of the span is kept, and how long they may be. */
const KEPT_ROUTES = 256;
const MAX_ROUTE = 256;
const routedNames = new Map<string, BoundedCache<string>>();

/** The name of a span with its route. One that is put together anew is in two pieces, which V8 has to join. */
export function routedName(name: string, route: string): string {
  let names = routedNames.get(name);
  if (names === undefined) {
    names = new BoundedCache(KEPT_ROUTES, MAX_ROUTE, (each) => `${name} ${each}`);
    routedNames.set(name, names);
  }
  return names.of(route);
}

/** The kind of a server's span, in the bits of the flags. */
export const SERVER = KINDS.indexOf('server') << KIND_SHIFT;

/** A caller can send any host: so many templates are kept. */
const MOST = 8;

/** A template, the requests that are of it, and their routes. */
interface Kept {
  readonly request: ServerRequest;
  readonly template: SpanTemplate;
  readonly routes: BoundedCache<KeptRoute>;
}

/** A route that comes so often has a template: one that comes rarely is not worth it. */
const OFTEN = 3;

class KeptRoute {
  times = 0;
  template: SpanTemplate | undefined = undefined;
}

function isSame(one: ServerRequest, other: ServerRequest): boolean {
  return (
    one.authority === other.authority &&
    one.method === other.method &&
    one.version === other.version &&
    one.scheme === other.scheme
  );
}

/** The templates of the requests that came, or were sent, often a short while ago. */
export class RequestTemplates {
  readonly #make: (request: ServerRequest) => SpanTemplate;
  readonly #kept: Kept[] = [];
  #missed: ServerRequest | undefined;
  #next = 0;

  constructor(make = templateOf) {
    this.#make = make;
  }

  /** The template of a request; undefined: there is none, which is no mistake. The request is not kept. */
  find(request: ServerRequest): SpanTemplate | undefined {
    // By index: an iterator is two objects.
    const all = this.#kept;
    for (let i = 0; i < all.length; i++) {
      const { request: known, template } = all[i]!;
      if (isSame(known, request)) return template;
    }
    return this.#miss(request);
  }

  /** The template of a span with its route; undefined: it is not as a template began it, or the route is rare. */
  withRoute({ heldNames }: Span, route: string): SpanTemplate | undefined {
    if (heldNames === undefined) return undefined;
    const all = this.#kept;
    for (let i = 0; i < all.length; i++) {
      const { request, template, routes } = all[i]!;
      if (template.heldNames !== heldNames) continue;
      const known = routes.of(route);
      if (known.template === undefined && ++known.times === OFTEN) {
        known.template = templateWith(request, route);
      }
      return known.template;
    }
    return undefined;
  }

  /** A request gets a template if it comes twice in a row: one that comes once is not worth it. */
  #miss(request: ServerRequest): SpanTemplate | undefined {
    const missed = this.#missed;
    this.#missed = { ...request };
    if (missed === undefined || !isSame(missed, request)) return undefined;
    if (knownMethod(request.method) === OTHER_METHOD) return undefined;
    const template = this.#make(missed);
    const routes = new BoundedCache(KEPT_ROUTES, MAX_ROUTE, () => new KeptRoute());
    this.#kept[this.#next] = { request: missed, template, routes };
    this.#next = (this.#next + 1) % MOST;
    return template;
  }
}

function templateOf({ method, scheme, version, host, port }: ServerRequest): SpanTemplate {
  const attributesOf = (path: string): Record<string, SpanValue> =>
    serverAttributes(method, scheme, version, host, port, path);
  return new SpanTemplate(HTTP_SCOPE, spanName(method), SERVER, attributesOf, true);
}

function templateWith(
  { method, scheme, version, host, port }: ServerRequest,
  route: string,
): SpanTemplate {
  const attributesOf = (path: string): Record<string, SpanValue> => {
    const { 'url.path': last, ...others } = serverAttributes(
      method,
      scheme,
      version,
      host,
      port,
      path,
    );
    return { ...others, 'http.route': route, 'url.path': last };
  };
  return new SpanTemplate(
    HTTP_SCOPE,
    routedName(spanName(method), route),
    SERVER,
    attributesOf,
    true,
  );
}
