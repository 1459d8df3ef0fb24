// One of the services of bench/keep-services.mjs: it asks the next one, at the port of BENCH_NEXT. What it is asked says
// which of them is slow, or fails.

import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerJson, serveLoad } from './loaded-service.mjs';

const next = process.env.BENCH_NEXT;
const own = process.env.BENCH_NUMBER;
const SLOW_MS = 600;
const agent = new Agent({ keepAlive: true });

/** @param {string} path */
function askNext(path) {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port: Number(next), path, agent }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode));
    }).once('error', reject);
  });
}

serveLoad(async ({ url }, response) => {
  const asked = new URL(url, 'http://localhost').searchParams;
  if (asked.get('before') === own) await sleep(SLOW_MS);
  const status = next === undefined ? 200 : await askNext(url);
  if (asked.get('after') === own) await sleep(SLOW_MS);
  const fails = asked.get('fails') === own || (status !== 200 && !asked.has('handled'));
  if (fails) response.writeHead(500).end();
  else answerJson(response, '{}');
});
