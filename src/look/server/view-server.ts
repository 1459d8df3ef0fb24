import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { TracewrightError } from '../../core/errors.js';
import type { LookIndex } from '../index/look-index.js';
import { encodeColumns } from '../wire/columns.js';
import { Query, WrongQuestion } from './route.js';
import type { Answer, Route } from './route.js';
import { readAhead } from './read-ahead.js';
import { Recording } from './recording.js';
import {
  type Refusal,
  refuseForeignHost,
  refuseWithoutToken,
  SAFETY_HEADERS,
  Token,
} from './request-guard.js';
import { findRoute } from './routes/find.js';
import { latencyRoute } from './routes/latency.js';
import { recordingRoute } from './routes/recording.js';
import { compareRoute, reportRoute } from './routes/report.js';
import { rowNamesRoute, rowRoute } from './routes/row.js';
import { searchTermsRoute } from './routes/search-terms.js';
import { tableRoute } from './routes/table.js';
import {
  boxesRoute,
  curvesRoute,
  litRoute,
  messagesRoute,
  overviewRoute,
  samplesRoute,
} from './routes/time-line.js';
import { traceRoute } from './routes/trace.js';

/** Every route of data, by the view that asks. */
const all: readonly Route[] = [
  recordingRoute,
  overviewRoute,
  boxesRoute,
  samplesRoute,
  litRoute,
  curvesRoute,
  messagesRoute,
  rowRoute,
  rowNamesRoute,
  findRoute,
  searchTermsRoute,
  tableRoute,
  latencyRoute,
  traceRoute,
  reportRoute,
  compareRoute,
];

export const routes: ReadonlyMap<string, Route> = new Map(all.map((route) => [route.path, route]));

/** No question of the page is longer, in bytes. */
const MOST = 1 << 20;

/** @throws WrongQuestion if the body is too long or no JSON. */
async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > MOST) throw new WrongQuestion(`a body has at most ${MOST} bytes`, 413);
    pieces.push(piece);
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8')) as unknown;
  } catch {
    throw new WrongQuestion('the body must be JSON');
  }
}

interface PageFile {
  type: string;
  bytes: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.js': 'text/javascript; charset=utf-8',
};

/**
 * The files of the page by their path in a URL, read once: no request names a file of the disk.
 *
 * @param directory `dist/page` of the package.
 */
function readPageFiles(directory: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    throw new TracewrightError(
      'ERR_SYSTEM',
      `the page is not in ${directory}: run \`npm run compile:ts\``,
    );
  }
  for (const name of names) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    files.set(`/${name}`, { type, bytes: readFileSync(join(directory, name)) });
  }
  const start = files.get('/index.html');
  if (start !== undefined) files.set('/', start);
  return files;
}

export interface ViewOptions {
  /** Closed with the server. */
  index: LookIndex;
  /** Those that the index was opened with: sources are shown in their order. Default: none. */
  paths?: readonly string[];
  /** `dist/page` of the package. */
  pageDirectory: string;
  /** Default: 0, any free port. */
  port?: number;
  /** Reads the traces again, a few times a second. Default: false. */
  live?: boolean;
}

export interface ViewServer {
  /** Address of the page, with the token in its fragment. */
  readonly url: string;
  readonly port: number;
  readonly token: string;
  close(): Promise<void>;
}

/** Serves the page and what it asks for, on 127.0.0.1 only. @throws the error of `listen`. */
export async function startViewServer(options: ViewOptions): Promise<ViewServer> {
  const { index, paths = [], pageDirectory, port = 0, live = false } = options;
  const files = readPageFiles(pageDirectory);
  const token = new Token();
  const recording = new Recording(index, live, paths);
  const server = createServer({ maxHeaderSize: 32_768 }, (request, response) => {
    void respond(request, response);
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(SAFETY_HEADERS)) response.setHeader(name, value);
    try {
      const refusal = refuseForeignHost(request);
      if (refusal !== undefined) {
        sendError(response, refusal);
        return;
      }
      const url = targetOf(request);
      if (url === undefined) {
        sendError(response, { status: 400, error: 'the address must begin with one /' });
        return;
      }
      const file = files.get(url.pathname);
      if (file !== undefined && (request.method === 'GET' || request.method === 'HEAD')) {
        response.setHeader('content-type', file.type).end(file.bytes);
        return;
      }
      const wrong = refuseWithoutToken(request, token);
      if (wrong !== undefined) {
        sendError(response, wrong);
        return;
      }
      await recording.answer(async () => send(response, await answerTo(request, response, url)));
    } catch (error) {
      if (response.headersSent) {
        response.destroy();
        return;
      }
      const status = error instanceof WrongQuestion ? error.status : 500;
      sendError(response, { status, error: wordsOf(error) });
    }
  }

  function answerTo(
    request: IncomingMessage,
    response: ServerResponse,
    { pathname, searchParams }: URL,
  ): Promise<Answer> | Answer {
    const route = routes.get(pathname);
    if (route === undefined) throw new WrongQuestion(`there is no ${pathname}`, 404);
    if (route.method !== request.method) {
      throw new WrongQuestion(`${pathname} takes ${route.method} only`, 405);
    }
    const leaving = new AbortController();
    response.once('close', () => {
      leaving.abort();
    });
    const query = new Query(searchParams);
    const { signal } = leaving;
    if (route.method === 'GET') return route.answer({ recording, query, body: undefined, signal });
    return readJsonBody(request).then((body) => route.answer({ recording, query, body, signal }));
  }

  try {
    await listen(server, port);
  } catch (error) {
    recording.close();
    throw error;
  }
  if (!live) void readAhead(recording);
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}/#token=${token.text}`,
    port: bound,
    token: token.text,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          recording.close();
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

/** The path and the query that are asked for. `//host` would be taken for another server's. */
function targetOf({ url = '/' }: IncomingMessage): URL | undefined {
  const address = `http://127.0.0.1${url}`;
  return /^\/(?!\/)/.test(url) && URL.canParse(address) ? new URL(address) : undefined;
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function send(response: ServerResponse, answer: Answer): Promise<void> {
  if ('json' in answer) {
    response.setHeader('content-type', 'application/json; charset=utf-8');
    response.end(JSON.stringify(answer.json, bigintsAsText));
    return;
  }
  response.setHeader('content-type', 'application/octet-stream');
  if ('columns' in answer) {
    response.end(encodeColumns(answer.columns, answer.meta));
    return;
  }
  for await (const bytes of answer.stream) {
    if (response.destroyed) return;
    if (!response.write(bytes)) await drained(response);
  }
  response.end();
}

/** The page may leave instead of reading on. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

function bigintsAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function sendError(response: ServerResponse, { status, error }: Refusal): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.end(JSON.stringify({ error }));
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
