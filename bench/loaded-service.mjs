// What the services under load have in common: they count, report their CPU time, and end when asked to.

import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread, parentPort } from 'node:worker_threads';

/** In a worker, bench/service-in-worker.mjs hands the messages on. */
const parent = isMainThread ? process : parentPort;
const send = (message) =>
  isMainThread ? process.send?.(message) : parentPort.postMessage(message);
/**
 * Calls back when the service is to end.
 *
 * @param {() => void} close
 */
export function whenEnded(close) {
  if (isMainThread) process.once('disconnect', close);
  else parentPort.once('close', close);
}

/** Milliseconds between two looks at the event loop, on request: they cost something. */
const RESOLUTION_MS = 1;
const NS_PER_MS = 1e6;

/**
 * @param {import('node:http').ServerResponse} response
 * @param {string} body
 */
export function answerJson(response, body) {
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** @param {import('node:http').RequestListener} answer */
export function serveLoad(answer) {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    answer(request, response);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => send({ port: server.address().port }));
  const delay =
    process.env.BENCH_LOOP_DELAY === '1'
      ? monitorEventLoopDelay({ resolution: RESOLUTION_MS })
      : undefined;
  delay?.enable();

  parent.on('message', (message) => {
    if (message === 'end') {
      // By itself: what traces has an end to write.
      if (isMainThread) process.disconnect();
      else parentPort.close();
      server.closeAllConnections();
      server.close();
      return;
    }
    if (message === 'memory') {
      // With --expose-gc: what is kept. The second one collects what the first has finalized.
      globalThis.gc();
      globalThis.gc();
      const { heapUsed, external, rss } = process.memoryUsage();
      send({ keptBytes: heapUsed + external, rss });
      return;
    }
    const used = process.resourceUsage();
    const delayP99Ms = delay === undefined ? NaN : delay.percentile(99) / NS_PER_MS;
    delay?.reset();
    send({
      requests,
      delayP99Ms,
      cpuUs: used.userCPUTime + used.systemCPUTime,
      systemUs: used.systemCPUTime,
      pageFaults: used.minorPageFault,
      preemptions: used.involuntaryContextSwitches,
      ms: performance.now(),
    });
  });
}
