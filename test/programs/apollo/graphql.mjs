// Apollo Server below a path of Express 5: the path is the route, and resolvers run below the request.
import { ApolloServer } from '@apollo/server';
import { expressMiddleware } from '@as-integrations/express5';
import express from 'express';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST /graphql 200
  own resolve hello
server POST /graphql 400
`;

export async function run() {
  const server = new ApolloServer({
    typeDefs: 'type Query { hello: String }',
    resolvers: { Query: { hello: async () => own('resolve hello', async () => 'world') } },
  });
  await server.start();
  const app = express();
  app.use('/graphql', express.json(), expressMiddleware(server));
  const url = await listen(app.listen(0, '127.0.0.1'));
  const headers = { 'content-type': 'application/json' };
  await ask(`${url}/graphql`, { method: 'POST', headers, body: '{"query":"{ hello }"}' });
  await ask(`${url}/graphql`, { method: 'POST', headers, body: '{"query":"{ none }"}' });
  await server.stop();
}
