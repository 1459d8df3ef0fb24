// connect-timeout refuses a request from its timer; the handler answers nothing any more.
import express from 'express';
import timeout from 'connect-timeout';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /slow/:id 503 !503
  own begins
  own refused 503
`;

export async function run() {
  const app = express();
  app.use(timeout('20ms'));
  app.get('/slow/:id', () => own('begins'));
  app.use((error, _, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    own(`refused ${error.status}`);
    response.status(error.status).end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/slow/7`);
}
