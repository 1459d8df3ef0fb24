// What a program asks of the runner's process: requests, bytes and servers that no tracer watches.

import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';

const PATIENCE_MS = 20_000;

async function ask({ url, options }) {
  const { method = 'GET', headers = {}, body, keepAlive, insecure, abortAfter } = options;
  const { request } = url.startsWith('https:') ? https : http;
  const agent = new (url.startsWith('https:') ? https : http).Agent({
    keepAlive: keepAlive === true,
  });
  const sent = request(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      ...headers,
    },
    agent,
    rejectUnauthorized: insecure !== true,
    timeout: PATIENCE_MS,
  });
  sent.on('timeout', () => sent.destroy(new Error(`no answer of ${url}`)));
  const answered = once(sent, 'response');
  answered.catch(() => {});
  sent.end(body);
  try {
    if (abortAfter === 'sent') {
      await once(sent, 'finish');
      // Until the server has it.
      await new Promise((resolve) => setTimeout(resolve, 50));
      sent.destroy();
      return { status: 0, headers: {}, body: '', error: 'aborted' };
    }
    const [response] = await answered;
    const { statusCode: status } = response;
    if (abortAfter === 'headers') {
      sent.destroy();
      return { status, headers: response.headers, body: '', error: 'aborted' };
    }
    let text = '';
    response.setEncoding('utf8');
    for await (const part of response) text += part;
    return { status, headers: response.headers, body: text };
  } catch (error) {
    return { status: 0, headers: {}, body: '', error: error.code ?? error.message };
  } finally {
    if (keepAlive !== true) agent.destroy();
  }
}

async function raw({ url, pieces, options }) {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  socket.setNoDelay(true);
  let received = '';
  let arrived = () => {};
  socket.setEncoding('latin1');
  socket.on('data', (part) => {
    received += part;
    arrived();
  });
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  const timer = setTimeout(() => socket.destroy(), PATIENCE_MS);
  try {
    await once(socket, 'connect');
    for (const piece of pieces) {
      if (piece !== null) {
        socket.write(piece, 'latin1');
        continue;
      }
      const before = received.length;
      if (received.length === before && !socket.destroyed) {
        await Promise.race([new Promise((resolve) => (arrived = resolve)), closed]);
      }
    }
    while (options.until !== undefined && !received.includes(options.until) && !socket.destroyed) {
      await Promise.race([new Promise((resolve) => (arrived = resolve)), closed]);
    }
    if (options.reset === true) socket.resetAndDestroy();
    else if (options.until !== undefined) socket.destroy();
    await closed;
    return received;
  } catch (error) {
    return `${received}${error.code}`;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

async function serve({ answers }, whenDone) {
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://x');
    const { status = 200, headers = {}, body, fate } = answers[pathname] ?? {};
    request.resume();
    if (fate === 'never') return;
    if (fate === 'reset') request.socket.resetAndDestroy();
    else if (fate === 'close') request.socket.destroy();
    else if (fate === 'cut') {
      response.writeHead(status, { ...headers, 'content-length': 1000 });
      response.write('x'.repeat(100), () => request.socket.destroy());
    } else {
      response.writeHead(status, headers);
      response.end(body ?? JSON.stringify(request.headers));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  whenDone(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: server.address().port };
}

const TASKS = { ask, raw, serve };

/** Does what a program asks for. @param whenDone takes what closes it when the program has ended. */
export async function doTask(message, whenDone) {
  return TASKS[message.task](message, whenDone);
}
