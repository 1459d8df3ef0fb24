import { Agent, request as httpRequest } from 'node:http';
import type { ClientRequestArgs, IncomingMessage } from 'node:http';
import { Agent as TlsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { TracewrightError } from '../core/errors.js';
import { comparableHost } from '../core/host-name.js';

/** Connections that are kept open. */
const MOST_CONNECTIONS = 16;
/** Of an answer. */
const MOST_ANSWER_BYTES = 64 << 10;

export interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

type Tls = Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>;

/** The proxy for a URL that the usual variables name. */
export function proxyOf(
  url: URL,
  env: Readonly<Record<string, string | undefined>> = process.env,
): URL | undefined {
  const named = (name: string): string | undefined => env[name.toLowerCase()] ?? env[name];
  const variable = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const text = named(variable);
  if (text === undefined || text === '') return undefined;
  for (const each of (named('NO_PROXY') ?? '').split(',')) {
    const name = comparableHost(each.trim().replace(/^\*?\./, ''));
    if (name === '') continue;
    if (name === '*' || url.hostname === name || url.host === name) return undefined;
    if (url.hostname.endsWith(`.${name}`)) return undefined;
  }
  return proxyUrl(variable, text);
}

/**
 * A proxy as curl takes it: without a scheme it is one of HTTP.
 *
 * @throws TracewrightError which does not show the value: it may have a password.
 */
function proxyUrl(variable: string, text: string): URL {
  const whole = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (url?.protocol === 'http:' && url.hostname !== '') return url;
  const limit = 'HOST:PORT or http://HOST:PORT';
  throw new TracewrightError('ERR_ARGUMENT_RANGE', `${variable} must be a proxy, ${limit}`, {
    field: variable,
    limit,
  });
}

function authorizationOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(text).toString('base64')}` };
}

/** A name or an address; a URL has brackets around one of IPv6. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Opens a tunnel to a server through a proxy. */
function tunnel(proxy: URL, { hostname, port }: URL, signal: AbortSignal): Promise<Duplex> {
  const target = `${hostname}:${port === '' ? '443' : port}`;
  return new Promise((resolve, reject) => {
    const request = httpRequest(proxy, {
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...authorizationOf(proxy) },
      signal,
    });
    request.on('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) resolve(socket);
      else {
        socket.destroy();
        reject(new Error(`the proxy ${proxy.host} answers ${statusCode} to CONNECT`));
      }
    });
    const refused = (response: IncomingMessage): void => {
      response.destroy();
      reject(new Error(`the proxy ${proxy.host} answers ${response.statusCode} to CONNECT`));
    };
    request.on('response', refused).on('upgrade', refused);
    request.on('error', reject);
    request.on('close', () => {
      reject(new Error(`the proxy ${proxy.host} closes the connection without an answer`));
    });
    request.end();
  });
}

/** Posts bodies to one URL over connections that stay open. Redirects are not followed: headers may be secret. */
export class HttpConnection {
  readonly #url: URL;
  readonly #proxy: URL | undefined;
  readonly #tls: Tls;
  readonly #agent: Agent;

  constructor(url: URL, tls: Tls, proxy = proxyOf(url)) {
    this.#url = url;
    this.#proxy = proxy;
    this.#tls = tls;
    const options = { keepAlive: true, maxSockets: MOST_CONNECTIONS };
    const isTls = url.protocol === 'https:';
    // A tunnel is a connection of its own.
    this.#agent =
      isTls && proxy === undefined ? new TlsAgent({ ...options, ...tls }) : new Agent(options);
  }

  /** @throws the error of the connection, or of the signal. */
  async post(body: Buffer, headers: Record<string, string>, signal: AbortSignal): Promise<Answer> {
    const url = this.#url;
    const proxy = this.#proxy;
    const { username, password } = url;
    const basic = authorizationOf(url)['proxy-authorization'];
    const all = {
      ...(username + password === '' ? {} : { authorization: basic! }),
      ...headers,
      'content-length': String(body.length),
    };
    const options: ClientRequestArgs = { method: 'POST', headers: all, signal, agent: this.#agent };
    if (url.protocol === 'http:') {
      if (proxy === undefined) return this.#exchange(httpRequest, url, options, body);
      const path = `${url.origin}${url.pathname}${url.search}`;
      const host = { host: url.host, ...authorizationOf(proxy) };
      return this.#exchange(
        httpRequest,
        proxy,
        { ...options, path, headers: { ...all, ...host } },
        body,
      );
    }
    if (proxy === undefined) return this.#exchange(httpsRequest, url, options, body);
    const socket = await tunnel(proxy, url, signal);
    // An address is no name for TLS; a certificate is checked against it all the same.
    const host = hostOf(url);
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const secure = tlsConnect({ socket, host, ...servername, ...this.#tls });
    const through = { ...options, agent: undefined, createConnection: () => secure };
    return this.#exchange(httpsRequest, url, through, body);
  }

  close(): void {
    this.#agent.destroy();
  }

  #exchange(
    request: typeof httpRequest,
    url: URL,
    options: ClientRequestArgs,
    body: Buffer,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          ...options,
          protocol: url.protocol,
          hostname: hostOf(url),
          port: url.port,
          path: options.path ?? `${url.pathname}${url.search}`,
        },
        (response) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes <= MOST_ANSWER_BYTES) chunks.push(chunk);
            else response.destroy(new Error('the answer is too long'));
          });
          response.on('error', reject);
          response.on('close', () => {
            reject(new Error('the connection closes within the answer'));
          });
          response.on('end', () => {
            const { statusCode = 0, headers } = response;
            resolve({ status: statusCode, headers, body: Buffer.concat(chunks) });
          });
        },
      );
      // 101: nobody asked for another protocol.
      sent.on('upgrade', ({ statusCode = 0, headers }, socket) => {
        socket.destroy();
        resolve({ status: statusCode, headers, body: Buffer.alloc(0) });
      });
      sent.on('error', reject);
      sent.on('close', () => {
        reject(new Error('the connection closes without an answer'));
      });
      sent.end(body);
    });
  }
}
