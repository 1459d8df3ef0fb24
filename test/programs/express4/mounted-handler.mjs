// What is mounted by use and answers, as a GraphQL server: the path of the mount is the route.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /graphql 200
server POST /graphql 200
server POST /graphql 400
`;
export const difference =
  'OpenTelemetry has no route if a parser fails. The parser is mounted at the path.';

export async function run() {
  const app = express();
  app.use('/graphql', express.json(), (request, response) => response.json(request.body ?? {}));
  app.use((error, _, response, next) => {
    if (response.headersSent) next(error);
    else response.status(error.status).end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  const headers = { 'content-type': 'application/json' };
  await ask(`${url}/graphql?query={a}`);
  await ask(`${url}/graphql`, { method: 'POST', headers, body: '{"query":"{a}"}' });
  await ask(`${url}/GRAPHQL`, { method: 'POST', headers, body: '{"query' });
}
