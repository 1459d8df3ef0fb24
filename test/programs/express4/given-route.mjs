// The program names the route of a request itself: that counts.
import express from 'express';
import { setRoute } from 'tracewright/spans';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /rpc/users.find 200
server GET /rpc/users.find 500 !500
`;
export const difference = 'setRoute of Tracewright says nothing to OpenTelemetry.';

export async function run() {
  const app = express();
  app.use('/rpc', (request, response, next) => {
    setRoute(request, `/rpc${request.path}`);
    next();
  });
  app.get('/rpc/:method', ({ query }, response) => response.status(query.fail ? 500 : 200).end());
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/rpc/users.find`);
  await ask(`${url}/rpc/users.find?fail=1`);
}
