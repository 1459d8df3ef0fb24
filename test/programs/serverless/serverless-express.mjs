// @codegenie/serverless-express: a request of a function is below its sender.
import serverlessExpress from '@codegenie/serverless-express';
import express from 'express';
import { own } from '../program.mjs';

export const expected = `
(remote) server GET /orders/:id 200
  own order
`;
export const alone = 'OpenTelemetry records no request that no socket has received.';

export async function run() {
  const app = express();
  app.get('/orders/:id', (_, response) => {
    own('order');
    response.send('ok');
  });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const event = {
    httpMethod: 'GET',
    path: '/orders/7',
    headers: { traceparent },
    multiValueHeaders: { traceparent: [traceparent] },
    requestContext: {},
    resource: '/{proxy+}',
  };
  await serverlessExpress({ app })(event, {}, () => undefined);
}
