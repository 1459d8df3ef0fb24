// Parsers of bodies before the routes: the handler runs below the request.
import express from 'express';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST /form/:id 200
  own form 2
server POST /json/:id 200
  own json 3
server POST /text/:id 200
  own text 5
`;

export async function run() {
  const app = express();
  app.use(express.json(), express.urlencoded({ extended: false }), express.text());
  app.post('/json/:id', ({ body }, response) => {
    own(`json ${body.n}`);
    response.end();
  });
  app.post('/form/:id', ({ body }, response) => {
    own(`form ${body.n}`);
    response.end();
  });
  app.post('/text/:id', ({ body }, response) => {
    own(`text ${body.length}`);
    response.end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  const post = (path, type, body) =>
    ask(url + path, { method: 'POST', headers: { 'content-type': type }, body });
  await post('/json/1', 'application/json', '{"n":3}');
  await post('/form/1', 'application/x-www-form-urlencoded', 'n=2');
  await post('/text/1', 'text/plain', 'hello');
}
