import type { Span } from '../../../heph/write/span.js';
import type { Stream } from '../../../heph/write/stream.js';
import {
  ABORTED,
  ERROR_TYPE,
  knownMethod,
  METHOD,
  PATH,
  RESPONSE_BYTES,
  ROUTE,
  STATUS_CODE,
} from '../conventions.js';
import type { Exchange, ServerRecorder } from '../exchange.js';
import type { SpanStream } from '../span-stream.js';
import { pathOf } from '../url-path.js';
import { threadRedaction } from '../../../spans/redaction/thread-redaction.js';
import { OpenRequests } from './open-requests.js';
import { redactedAttributes, redactedText } from './redacted-attributes.js';

const DESCRIPTION = 'request';
const ANSWERED = [
  [METHOD, 'string'],
  [PATH, 'string'],
  [STATUS_CODE, 'u64'],
] as const;
const ROUTED = [[ROUTE, 'string'], ...ANSWERED] as const;
const BYTES = [RESPONSE_BYTES, 'u64'] as const;

/**
 * Records each server request as an event of its own, without ids and context: `request` with method, path
 * (without query) and status, and with the route first if a router reports it. A request that was not
 * answered in full has `error.type`, and a status only if headers were sent.
 */
export class FlatServerRecorder implements ServerRecorder {
  readonly #stream: Stream;
  readonly #output: SpanStream;
  readonly #open: OpenRequests | undefined;
  readonly #answered: Span<typeof ANSWERED>;
  readonly #routed: Span<typeof ROUTED>;
  readonly #answeredWithBytes: Span<readonly [...typeof ANSWERED, typeof BYTES]>;
  readonly #routedWithBytes: Span<readonly [...typeof ROUTED, typeof BYTES]>;

  constructor(output: SpanStream) {
    const { stream } = output;
    const table = stream.ring.openRecords;
    this.#stream = stream;
    this.#output = output;
    this.#open = table === undefined ? undefined : new OpenRequests(stream, table, DESCRIPTION);
    this.#answered = stream.span(DESCRIPTION, ANSWERED);
    this.#routed = stream.span(DESCRIPTION, ROUTED);
    this.#answeredWithBytes = stream.span(DESCRIPTION, [...ANSWERED, BYTES]);
    this.#routedWithBytes = stream.span(DESCRIPTION, [...ROUTED, BYTES]);
  }

  start(exchange: Exchange): void {
    const timing = this.#stream.startTrace();
    exchange.timing = timing;
    exchange.path = pathOf(exchange.url);
    if (threadRedaction.redactor !== undefined) exchange.path = redactedText(PATH, exchange.path);
    if (this.#open === undefined || timing === undefined) return;
    exchange.place = this.#open.begin(timing, exchange.method, exchange.path);
  }

  /** The request has its route also if it is never answered. */
  routed(exchange: Exchange, route: string): void {
    const { keptRoute, place } = exchange;
    if (this.#open === undefined || route === '') return;
    const own = redactedText(ROUTE, route);
    if (own === keptRoute || own === '') return;
    const next = this.#open.route(place, keptRoute, own);
    if (next === place) return;
    exchange.place = next;
    exchange.keptRoute = own;
  }

  answered(exchange: Exchange, bytes: number | undefined): void {
    if (threadRedaction.redactor !== undefined) {
      const { statusCode } = exchange.response;
      const size = bytes === undefined ? {} : { [RESPONSE_BYTES]: bytes };
      this.#finish(exchange, { [STATUS_CODE]: statusCode, ...size });
      return;
    }
    const substream = this.#output.nextSubstream();
    const { place, timing, method, path, route, response } = exchange;
    const { statusCode } = response;
    const known = knownMethod(method);
    this.#open?.ending(place);
    try {
      if (bytes !== undefined) this.#answeredInBytes(exchange, substream, known, bytes);
      else if (route === '') this.#answered.finishIn(substream, timing, known, path, statusCode);
      else this.#routed.finishIn(substream, timing, route, known, path, statusCode);
    } finally {
      this.#open?.end(place);
    }
  }

  #answeredInBytes(exchange: Exchange, substream: number, method: string, bytes: number): void {
    const { timing, path, route, response } = exchange;
    const { statusCode } = response;
    if (route === '') {
      this.#answeredWithBytes.finishIn(substream, timing, method, path, statusCode, bytes);
    } else {
      this.#routedWithBytes.finishIn(substream, timing, route, method, path, statusCode, bytes);
    }
  }

  aborted(exchange: Exchange): void {
    const { response } = exchange;
    this.#finish(exchange, {
      ...(response.headersSent ? { [STATUS_CODE]: response.statusCode } : {}),
      [ERROR_TYPE]: ABORTED,
    });
  }

  /** Records a request of any attributes. */
  #finish(exchange: Exchange, ending: Readonly<Record<string, string | number>>): void {
    const { place, timing, method, path, route } = exchange;
    this.#open?.ending(place);
    try {
      this.#stream.finishTrace(
        timing,
        DESCRIPTION,
        redactedAttributes(
          {
            ...(route === '' ? {} : { [ROUTE]: route }),
            [METHOD]: knownMethod(method),
            [PATH]: path,
            ...ending,
          },
          path,
        ),
        this.#output.nextSubstream(),
      );
    } finally {
      this.#open?.end(place);
    }
  }
}
