// morgan writes its line when the response is sent: of two requests on one connection each has its own.
import express from 'express';
import morgan from 'morgan';
import { listen, own, raw, until } from '../program.mjs';

export const expected = `
server GET /orders/:id 200
  own logged /orders/1
server GET /orders/:id 200
  own logged /orders/2
`;

export async function run() {
  const app = express();
  let logged = 0;
  app.use(
    morgan(':url', {
      stream: {
        write(line) {
          logged += 1;
          own(`logged ${line.trim()}`);
        },
      },
    }),
  );
  app.get('/orders/:id', (request, response) => {
    setTimeout(() => response.send('ok'), request.params.id === '1' ? 20 : 0);
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  const request = (id, more) => `GET /orders/${id} HTTP/1.1\r\nhost: a\r\n${more}\r\n`;
  // Pipelined: the second answer waits for the first.
  await raw(url, [request(1, '') + request(2, 'connection: close\r\n')]);
  await until(() => logged === 2);
}
