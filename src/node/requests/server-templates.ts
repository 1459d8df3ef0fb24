import { BoundedCache } from '../../core/bounded-cache.js';
import type { SpanValue } from '../../spans/attributes.js';
import { OTHER_METHOD } from '../../spans/conventions.js';
import { KIND_SHIFT, KINDS } from '../../spans/layout.js';
import type { Span } from '../../spans/span.js';
import { SpanTemplate } from '../../spans/write/span-template.js';
import { hostAndPort, HTTP_SCOPE, knownMethod, serverAttributes, spanName } from './conventions.js';

/** What requests of many paths have in common. */
export interface RequestKind {
  readonly method: string;
  readonly scheme: string;
  /** Of HTTP; empty: it is not recorded. */
  readonly version: string;
  /** As the caller has sent it. */
  readonly authority: string;
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
  readonly kind: RequestKind;
  readonly template: SpanTemplate;
  readonly routes: BoundedCache<KeptRoute>;
}

/** A route that comes so often has a template: one that comes rarely is not worth it. */
const OFTEN = 3;

class KeptRoute {
  times = 0;
  template: SpanTemplate | undefined = undefined;
}

function isOf(
  kind: RequestKind,
  method: string,
  scheme: string,
  version: string,
  authority: string,
): boolean {
  return (
    kind.method === method &&
    kind.version === version &&
    kind.scheme === scheme &&
    // Node makes it anew for each request, so V8 compares its characters.
    kind.authority === authority
  );
}

/** The templates of the requests that came, or were sent, often a short while ago. */
export class RequestTemplates {
  readonly #make: (kind: RequestKind) => SpanTemplate;
  readonly #kept: Kept[] = [];
  #missed: RequestKind | undefined;
  #next = 0;

  constructor(make = templateOf) {
    this.#make = make;
  }

  /** The template of a request; undefined: there is none, which is no mistake. The texts may be kept. */
  find(
    method: string,
    scheme: string,
    version: string,
    authority: string,
  ): SpanTemplate | undefined {
    // By index: an iterator is two objects.
    const all = this.#kept;
    for (let i = 0; i < all.length; i++) {
      const { kind, template } = all[i]!;
      if (isOf(kind, method, scheme, version, authority)) return template;
    }
    return this.#miss({ method, scheme, version, authority });
  }

  /** The template of a span with its route; undefined: it is not as a template began it, or the route is rare. */
  withRoute({ heldNames }: Span, route: string): SpanTemplate | undefined {
    if (heldNames === undefined) return undefined;
    const all = this.#kept;
    for (let i = 0; i < all.length; i++) {
      const { kind, template, routes } = all[i]!;
      if (template.heldNames !== heldNames) continue;
      const known = routes.of(route);
      if (known.template === undefined && ++known.times === OFTEN) {
        known.template = templateWith(kind, route);
      }
      return known.template;
    }
    return undefined;
  }

  /** A request gets a template if it comes twice in a row: one that comes once is not worth it. */
  #miss(kind: RequestKind): SpanTemplate | undefined {
    const missed = this.#missed;
    this.#missed = kind;
    const { method, scheme, version, authority } = kind;
    if (missed === undefined || !isOf(missed, method, scheme, version, authority)) return undefined;
    if (knownMethod(method) === OTHER_METHOD) return undefined;
    const template = this.#make(kind);
    const routes = new BoundedCache(KEPT_ROUTES, MAX_ROUTE, () => new KeptRoute());
    this.#kept[this.#next] = { kind, template, routes };
    this.#next = (this.#next + 1) % MOST;
    return template;
  }
}

function attributesOf(
  { method, scheme, version, authority }: RequestKind,
  path: string,
): Record<string, SpanValue> {
  const { host, port } = hostAndPort(authority) ?? {};
  return serverAttributes(method, scheme, version, host, port, path);
}

function templateOf(kind: RequestKind): SpanTemplate {
  const name = spanName(kind.method);
  return new SpanTemplate(HTTP_SCOPE, name, SERVER, (path) => attributesOf(kind, path), true);
}

function templateWith(kind: RequestKind, route: string): SpanTemplate {
  const withRoute = (path: string): Record<string, SpanValue> => {
    const { 'url.path': last, ...others } = attributesOf(kind, path);
    return { ...others, 'http.route': route, 'url.path': last };
  };
  const name = routedName(spanName(kind.method), route);
  return new SpanTemplate(HTTP_SCOPE, name, SERVER, withRoute, true);
}
