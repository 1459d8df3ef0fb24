import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { decodeFields, messages, text } from '../export/protobuf-fields.js';
import type { Fields } from '../export/protobuf-fields.js';

/** A span as it was received. */
export interface ReceivedSpan {
  spanId: string;
  name: string;
  service: string | undefined;
  resource: Record<string, string | undefined>;
}

export interface ReceivedRequest {
  url: string;
  headers: IncomingHttpHeaders;
  spans: ReceivedSpan[];
  bytes: number;
}

/** What the receiver answers; `cut`: nothing, and the connection ends. */
export interface ReceiverAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: Buffer | string;
  cut?: boolean;
  /** Whether its spans count as received. Default: if the status is 200. */
  isKept?: boolean;
}

type Answer = (request: ReceivedRequest) => ReceiverAnswer | Promise<ReceiverAnswer>;

const hex = (fields: Fields, field: number): string =>
  Buffer.from((fields.get(field)?.[0] as Uint8Array | undefined) ?? []).toString('hex');

function textAttributes(fields: Fields, field: number): Record<string, string | undefined> {
  return Object.fromEntries(
    messages(fields, field).map((each) => [
      text(each, 1)!,
      each.get(2) === undefined ? undefined : text(messages(each, 2)[0]!, 1),
    ]),
  );
}

/** The spans of an ExportTraceServiceRequest, decoded by the numbers of its fields. */
export function spansOf(body: Uint8Array): ReceivedSpan[] {
  return messages(decodeFields(body), 1).flatMap((ofResource) => {
    const resource = textAttributes(messages(ofResource, 1)[0]!, 1);
    return messages(ofResource, 2).flatMap((ofScope) =>
      messages(ofScope, 2).map((span) => ({
        spanId: hex(span, 2),
        name: text(span, 5)!,
        service: resource['service.name'],
        resource,
      })),
    );
  });
}

/** An endpoint of OTLP over HTTP. */
export class Receiver {
  readonly requests: ReceivedRequest[] = [];
  /** Those that were answered with success, in the order of their arrival. */
  readonly spans: ReceivedSpan[] = [];
  answer: Answer = () => ({ status: 200 });
  readonly #server: Server;
  #scheme = 'http';

  constructor(tls?: ServerOptions) {
    const listener: Parameters<typeof createServer>[1] = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        void (async () => {
          const sent = Buffer.concat(chunks);
          const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
          const received: ReceivedRequest = {
            url: request.url!,
            headers: request.headers,
            spans: spansOf(body),
            bytes: body.length,
          };
          this.requests.push(received);
          const answer = await this.answer(received);
          if (answer.isKept ?? answer.status === 200) this.spans.push(...received.spans);
          if (answer.cut === true) {
            request.socket.destroy();
            return;
          }
          response.writeHead(answer.status, answer.headers).end(answer.body);
        })();
      });
    };
    if (tls !== undefined) this.#scheme = 'https';
    this.#server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The ids of what was received, sorted. */
  get ids(): string[] {
    return this.spans.map(({ spanId }) => spanId).sort();
  }

  /** @param port of an earlier receiver, or any. */
  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
