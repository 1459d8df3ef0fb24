import type { SpanValue } from '../../../spans/attributes.js';
import { OTHER_METHOD } from '../../../spans/http-methods.js';
import { KIND_SHIFT, KINDS } from '../../../spans/layout.js';
import { SpanTemplate } from '../../../spans/write/span-template.js';
import { knownMethod, serverAttributes, spanName } from '../conventions.js';
import { HTTP_SCOPE } from './scope.js';

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

export const SERVER = KINDS.indexOf('server') << KIND_SHIFT;

/** A caller can send any host: so many templates are kept. */
const MOST = 8;

/** A template, and the requests that are of it. */
interface Kept {
  readonly request: ServerRequest;
  readonly template: SpanTemplate;
}

function isSame(one: ServerRequest, other: ServerRequest): boolean {
  return (
    one.authority === other.authority &&
    one.method === other.method &&
    one.version === other.version &&
    one.scheme === other.scheme
  );
}

/** The templates of the requests that came often a short while ago. */
export class ServerTemplates {
  readonly #kept: Kept[] = [];
  #missed: ServerRequest | undefined;
  #next = 0;

  /** The template of a request; undefined: there is none, which is no mistake. The request is not kept. */
  find(request: ServerRequest): SpanTemplate | undefined {
    for (const kept of this.#kept) if (isSame(kept.request, request)) return kept.template;
    return this.#miss(request);
  }

  /** A request gets a template if it comes twice in a row: one that comes once is not worth it. */
  #miss(request: ServerRequest): SpanTemplate | undefined {
    const missed = this.#missed;
    this.#missed = { ...request };
    if (missed === undefined || !isSame(missed, request)) return undefined;
    if (knownMethod(request.method) === OTHER_METHOD) return undefined;
    const template = templateOf(missed);
    this.#kept[this.#next] = { request: missed, template };
    this.#next = (this.#next + 1) % MOST;
    return template;
  }
}

function templateOf({ method, scheme, version, host, port }: ServerRequest): SpanTemplate {
  const attributesOf = (path: string): Record<string, SpanValue> =>
    serverAttributes(method, scheme, version, host, port, path);
  return new SpanTemplate(HTTP_SCOPE, spanName(method), SERVER, attributesOf);
}
