// A form says which method it means: the request has the method that came.
import bodyParser from 'body-parser';
import express from 'express';
import methodOverride from 'method-override';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST /orders/:id 200
  own deleted
`;

export async function run() {
  const app = express();
  app.use(bodyParser.urlencoded({ extended: false }), methodOverride('_method'));
  app.delete('/orders/:id', (_, response) => {
    own('deleted');
    response.end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  await ask(`${url}/orders/7?_method=DELETE`, { method: 'POST', headers, body: 'a=1' });
}
