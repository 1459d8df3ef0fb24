import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TracewrightError } from '../core/errors.js';
import { hasCode } from '../core/files/system-error.js';
import { ADDRESS } from '../core/settings/kinds.js';
import { wrongSetting } from './errors.js';
import { metricsText } from './metrics-text.js';
import type { Shipper } from './shipper.js';
import type { SpanMetrics } from './span-metrics.js';

const TEXT = 'text/plain; version=0.0.4; charset=utf-8';
const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
/** Of a client that sends or reads slowly, in milliseconds. */
const MOST_MS = 5000;
/** An address that another process has is tried again after this time. */
const RETRY_MS = 1000;
const MOST_CONNECTIONS = 32;
const MOST_HEADER_BYTES = 8192;
const DEFAULT_HOST = '127.0.0.1';

interface MetricsOptions {
  shippers: readonly Shipper[];
  spanMetrics: SpanMetrics | undefined;
  /** Above, `/healthz` answers 503. */
  mostLagMs: number;
}

/** `HOST:PORT`, `:PORT` or `PORT`. */
export function parseAddress(address: string): { host: string; port: number } {
  const [, host, port] = ADDRESS.exec(address) ?? [];
  if (port === undefined || Number(port) > 65_535) {
    throw wrongSetting('--metrics', address, 'HOST:PORT, such as 127.0.0.1:9464');
  }
  return { host: host?.replace(/^\[|\]$/g, '') || DEFAULT_HOST, port: Number(port) };
}

/** Serves `/metrics` and `/healthz`. */
export class MetricsServer {
  readonly #server: Server;
  readonly #options: MetricsOptions;

  constructor(options: MetricsOptions) {
    this.#options = options;
    this.#server = createServer(
      {
        maxHeaderSize: MOST_HEADER_BYTES,
        headersTimeout: MOST_MS,
        requestTimeout: MOST_MS,
        keepAliveTimeout: MOST_MS,
        connectionsCheckingInterval: 1000,
      },
      (request, response) => {
        this.#answer(request, response);
      },
    );
    this.#server.maxConnections = MOST_CONNECTIONS;
    this.#server.setTimeout(MOST_MS, (socket) => socket.destroy());
    this.#server.on('clientError', (_, socket) => socket.destroy());
    this.#server.unref();
  }

  /**
   * @param onTaken takes that another process listens there, which is tried again; undefined: that is an error.
   * @returns its URL.
   * @throws TracewrightError if it cannot listen there.
   */
  async listen(address: string, onTaken?: () => void): Promise<string> {
    const { host, port } = parseAddress(address);
    const server = this.#server;
    for (;;) {
      try {
        server.listen(port, host);
        await once(server, 'listening');
        break;
      } catch (error) {
        if (onTaken === undefined || !hasCode(error, 'EADDRINUSE')) {
          throw new TracewrightError(
            'ERR_SYSTEM',
            `--metrics ${address}: ${(error as Error).message}`,
            { field: '--metrics', value: address, cause: error },
          );
        }
        onTaken();
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
    // A later error of the server must not end the command.
    server.on('error', () => undefined);
    const own = server.address() as AddressInfo;
    const shown = own.family === 'IPv6' ? `[${own.address}]` : own.address;
    return `http://${shown}:${own.port}/metrics`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    // A body is of no use here, and must not keep the connection.
    const hasBody =
      request.headers['content-length'] !== undefined ||
      request.headers['transfer-encoding'] !== undefined;
    if (hasBody) response.setHeader('connection', 'close');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      this.#end(response, 405, 'only GET and HEAD\n');
      return;
    }
    const { shippers, spanMetrics } = this.#options;
    switch (request.url?.split('?')[0]) {
      case '/metrics': {
        const isOpen = request.headers.accept?.includes('application/openmetrics-text') === true;
        response.setHeader('content-type', isOpen ? OPEN_METRICS : TEXT);
        this.#end(response, 200, metricsText(shippers, spanMetrics, isOpen));
        return;
      }
      case '/healthz': {
        const reasons = this.#reasons();
        const isWell = reasons.length === 0;
        this.#end(response, isWell ? 200 : 503, isWell ? 'ok\n' : `${reasons.join('\n')}\n`);
        return;
      }
      default:
        this.#end(response, 404, 'there are /metrics and /healthz\n');
    }
  }

  #reasons(): string[] {
    const { shippers, mostLagMs } = this.#options;
    return shippers
      .filter(({ lagMs }) => lagMs > mostLagMs)
      .map(({ target, lagMs, trouble }) => {
        const why = trouble === undefined ? '' : `: ${trouble.reason}`;
        return `${target.label} is ${Math.round(lagMs / 1000)} s late${why}`;
      });
  }

  #end(response: ServerResponse, status: number, text: string): void {
    if (!response.hasHeader('content-type')) response.setHeader('content-type', TEXT);
    response.writeHead(status);
    response.end(text);
  }
}
