// What the programs share. Requests of `ask`, `raw` and `otherProcess` come from the runner's process, which no
// tracer watches: they make no client spans.

import { once } from 'node:events';
import { context, SpanStatusCode, trace } from '@opentelemetry/api';

const tracer = trace.getTracer('program');

/** Names of ports, for the runner. */
export const ports = new Map();

const servers = [];
const pending = new Map();
let asked = 0;

/** Has the runner do something; the answer comes in the context of the caller. */
function runner(task) {
  if (process.send === undefined) throw new Error('run programs with npm run test:programs');
  const id = (asked += 1);
  if (pending.size === 0) process.channel.ref();
  return new Promise((resolve, reject) => {
    pending.set(id, { resolve, reject });
    process.send({ ...task, id });
  });
}

/** Has the answers of the runner handled, while this process waits for some. */
export function followRunner() {
  process.on('message', ({ id, error, answer }) => {
    const { resolve, reject } = pending.get(id) ?? {};
    pending.delete(id);
    if (pending.size === 0) process.channel.unref();
    if (error === undefined) resolve?.(answer);
    else reject?.(new Error(error));
  });
  process.channel.unref();
}

/**
 * Waits until a server listens, on a free port of 127.0.0.1 unless it does already. It is closed after the program.
 *
 * @param name how the expectation calls its port.
 * @returns its URL, by http.
 */
export async function listen(server, name = 'server') {
  if (!server.listening) {
    if (server.listenerCount('listening') === 0 || server.address() === null) {
      try {
        server.listen(0, '127.0.0.1');
      } catch (error) {
        // It begins to listen already.
        if (error.code !== 'ERR_SERVER_ALREADY_LISTEN') throw error;
      }
    }
    if (!server.listening) await once(server, 'listening');
  }
  servers.push(server);
  const { port } = server.address();
  ports.set(port, name);
  return `http://127.0.0.1:${port}`;
}

/** Names a port that something else than `listen` has opened. */
export function namePort(port, name) {
  ports.set(Number(port), name);
}

/** Closes what `listen` was given. */
export async function closeServers() {
  await Promise.all(
    servers.map((server) => {
      if (!server.listening) return undefined;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections?.();
      return closed;
    }),
  );
}

/**
 * A span of the program's own, made through OpenTelemetry's API, active while `fn` runs. Without `fn` it ends at once:
 * it shows in which context the calling code runs.
 */
export function own(name, fn) {
  if (fn === undefined) {
    tracer.startSpan(name).end();
    return undefined;
  }
  return tracer.startActiveSpan(name, (span) => {
    const fail = (error) => {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
      throw error;
    };
    let result;
    try {
      result = fn(span);
    } catch (error) {
      return fail(error);
    }
    if (typeof result?.then === 'function') {
      return result.then((value) => {
        span.end();
        return value;
      }, fail);
    }
    span.end();
    return result;
  });
}

/** Runs `fn` outside all spans, as the start of a program does. */
export function outside(fn) {
  return context.with(trace.deleteSpan(context.active()), fn);
}

/**
 * Sends a request of HTTP/1.1 from another process.
 *
 * @param {string} url
 * @param {{ method?: string, headers?: object, body?: string, keepAlive?: boolean, insecure?: boolean,
 *   abortAfter?: 'sent' | 'headers' }} [options] `keepAlive`: with other such requests on one connection;
 *   `insecure`: takes any certificate; `abortAfter`: destroys the request then.
 * @returns {Promise<{ status: number, headers: object, body: string, error?: string }>}
 */
export function ask(url, options = {}) {
  return runner({ task: 'ask', url, options });
}

/**
 * Writes pieces to a connection from another process, each after something was received or `null` waits for it, and
 * returns all that was received until the peer closes, or until `until` is in it.
 *
 * @param {string} url host and port alone count.
 * @param {(string | null)[]} pieces `null`: waits for (more) bytes of the peer.
 * @param {{ until?: string, reset?: boolean }} [options] `reset`: ends the connection with RST.
 */
export function raw(url, pieces, options = {}) {
  return runner({ task: 'raw', url, pieces, options });
}

/**
 * A server of HTTP in another process, which no tracer watches.
 *
 * @param {string} name how the expectation calls its port.
 * @param {Record<string, { status?: number, headers?: object, body?: string, fate?: 'never' | 'reset' | 'close' | 'cut' }>} [answers]
 *   by path; any other path is answered with 200 and the headers that came, as JSON. `never` answers nothing, `reset`
 *   resets and `close` closes the connection without an answer, `cut` does so within the body.
 * @returns {Promise<string>} its URL.
 */
export async function otherProcess(name, answers = {}) {
  const { port } = await runner({ task: 'serve', answers });
  ports.set(port, name);
  return `http://127.0.0.1:${port}`;
}

/** Resolves when `predicate` is true; it is asked again each turn of the loop. @throws after 20 s. */
export async function until(predicate) {
  const end = performance.now() + 20_000;
  while (!predicate()) {
    if (performance.now() > end) throw new Error(`never: ${predicate}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
