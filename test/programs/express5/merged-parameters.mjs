// A router that merges the parameters of its mount, with `app.route`, and an error handler that answers from a timer.
import express from 'express';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /shops/:shop/orders/:order 200
  own order 2 of 1
server POST /shops/:shop/orders/:order 409
  own answered late
  own refused
`;

export async function run() {
  const orders = express.Router({ mergeParams: true });
  orders
    .route('/:order')
    .get(({ params }, response) => {
      own(`order ${params.order} of ${params.shop}`);
      response.end();
    })
    .post((_, __, next) => next(Object.assign(new Error('no'), { status: 409 })));
  const app = express();
  app.use('/shops/:shop/orders', orders);
  app.use((error, _, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    own('refused');
    setTimeout(() => {
      own('answered late');
      response.status(error.status).end();
    }, 5);
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/shops/1/orders/2`);
  await ask(`${url}/shops/3/orders/4`, { method: 'POST' });
}
