import { BoundedCache } from '../../core/bounded-cache.js';
import type { SpanValue } from '../../spans/attributes.js';
import { OTHER_METHOD } from '../../spans/conventions.js';
import { SERVER_BITS } from '../../spans/layout.js';
import { Prefix } from '../../spans/slot/prefix.js';
import {
  hostAndPort,
  HTTP_SCOPE,
  knownMethod,
  ORIGINAL_METHOD,
  serverAttributes,
  spanName,
} from './conventions.js';

/** Prefixes that requests of many paths have in common. */
export interface RequestKind {
  /** By `protocolOf`. */
  readonly protocol: number;
  readonly method: string;
  /** As the caller has sent it. */
  readonly authority: string;
}

/** A major version that is not recorded. */
export const NO_VERSION = 0;
const SECURE = 1;
const MINOR_SHIFT = 1;
const MAJOR_SHIFT = 5;

/** Version and scheme of HTTP as one number, which V8 compares without a look at texts. */
export function protocolOf(major: number, minor: number, isSecure: boolean): number {
  return (major << MAJOR_SHIFT) | (minor << MINOR_SHIFT) | (isSecure ? SECURE : 0);
}

/** Whether `protocolOf` can tell a scheme. Of HTTP/2 it may be any. */
export function isOfHttp(scheme: string): boolean {
  return scheme === 'https' || scheme === 'http';
}

export function schemeOf(protocol: number): string {
  return (protocol & SECURE) === 0 ? 'http' : 'https';
}

function versionOf(protocol: number): string | undefined {
  const major = protocol >> MAJOR_SHIFT;
  const minor = (protocol >> MINOR_SHIFT) & 0xf;
  if (major === NO_VERSION) return undefined;
  return major === 1 ? `1.${minor}` : String(major);
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

/** A caller can send any host: so many templates are kept. */
const MOST = 8;

/** A template, and the requests that are of it. */
interface Kept extends RequestKind {
  readonly template: Prefix;
}

/** The templates of the requests that came, or were sent, often a short while ago. */
export class RequestTemplates {
  readonly #make: (kind: RequestKind) => Prefix;
  readonly #kept: Kept[] = [];
  #missed: RequestKind | undefined;
  #next = 0;

  constructor(make = templateOf) {
    this.#make = make;
  }

  /** The template of a request; undefined: there is none, which is no mistake. The texts may be kept. */
  find(protocol: number, method: string, authority: string): Prefix | undefined {
    // By index: an iterator is two objects.
    const all = this.#kept;
    for (let i = 0; i < all.length; i++) {
      const kept = all[i]!;
      if (
        kept.protocol === protocol &&
        kept.method === method &&
        // Node makes it anew for each request, so V8 compares its characters.
        kept.authority === authority
      ) {
        return kept.template;
      }
    }
    return this.#miss({ protocol, method, authority });
  }

  /** A request gets a template if it comes twice in a row: one that comes once is not worth it. */
  #miss(kind: RequestKind): Prefix | undefined {
    const missed = this.#missed;
    this.#missed = kind;
    const { protocol, method, authority } = kind;
    const isSecond =
      missed?.protocol === protocol && missed.method === method && missed.authority === authority;
    if (!isSecond) return undefined;
    if (knownMethod(method) === OTHER_METHOD) return undefined;
    const template = this.#make(kind);
    this.#kept[this.#next]?.template.release();
    this.#kept[this.#next] = { ...kind, template };
    this.#next = (this.#next + 1) % MOST;
    return template;
  }
}

/** The attributes of a request at its start. */
export function attributesOf(
  { protocol, method, authority }: RequestKind,
  path: string,
): Record<string, SpanValue> {
  const { host, port } = hostAndPort(authority) ?? {};
  const known = knownMethod(method);
  const version = versionOf(protocol);
  const attributes: Record<string, SpanValue> = serverAttributes(
    known,
    schemeOf(protocol),
    version,
    host,
    port,
    path,
  );
  if (known === OTHER_METHOD) attributes[ORIGINAL_METHOD] = method;
  return attributes;
}

function templateOf(kind: RequestKind): Prefix {
  const name = spanName(kind.method);
  return new Prefix(HTTP_SCOPE, name, SERVER_BITS, (path) => attributesOf(kind, path), true);
}
