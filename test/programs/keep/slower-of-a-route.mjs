// A limit of one route, which is known when the request ends.
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /orders/:id 200
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = { TRACEWRIGHT_KEEP: 'slower:/orders/:id=20ms' };

export async function run() {
  const app = express();
  const slow = async (_, response) => {
    await sleep(40);
    response.end();
  };
  app.get('/orders/:id', slow);
  app.get('/reports/:id', slow);
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/orders/7`);
  await ask(`${url}/reports/7`);
}
