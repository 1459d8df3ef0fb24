import type { SpanValue } from '../../spans/attributes.js';
import { BAGGAGE, TRACE_PARENT } from '../../spans/context/headers.js';
import { OTHER_METHOD } from '../../spans/http-methods.js';
import { KIND_SHIFT, KINDS } from '../../spans/layout.js';
import { isOfOtherFormat, readsOtherFormats } from '../../spans/propagation.js';
import { SpanTemplate } from '../../spans/write/span-template.js';
import { hostAndPort, HTTP_SCOPE, knownMethod, serverAttributes, spanName } from './conventions.js';

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

const HOST = 'host';

/** Whether a name is that of a header, in any case. No text is made. */
function isHeader(name: string, header: string): boolean {
  if (name.length !== header.length) return false;
  // Letters of lower case have this bit.
  for (let i = 0; i < header.length; i++) {
    if ((name.charCodeAt(i) | 0x20) !== header.charCodeAt(i)) return false;
  }
  return true;
}

/**
 * What a span needs of the headers of requests. It reads the list that Node has made of them: Node makes the object
 * on request only, and that costs more than the span.
 */
export class HeaderReader {
  host: string | undefined = undefined;
  port: number | undefined = undefined;
  /** Whether the caller has sent a trace or baggage. */
  hasContext = false;
  /** The header `Host`; empty if there is none. Most requests are for the same one: that is the same string, too. */
  authority = '';

  /** @param headers names and values in turn. */
  read(headers: readonly string[]): void {
    this.hasContext = false;
    const readsOthers = readsOtherFormats();
    let authority = '';
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!;
      if (isHeader(name, HOST)) {
        if (authority === '') authority = headers[i + 1] ?? '';
      } else if (
        isHeader(name, TRACE_PARENT) ||
        isHeader(name, BAGGAGE) ||
        (readsOthers && isOfOtherFormat(name))
      ) {
        this.hasContext = true;
      }
    }
    if (authority === this.authority) return;
    this.authority = authority;
    const found = hostAndPort(authority);
    this.host = found?.host;
    this.port = found?.port;
  }
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
