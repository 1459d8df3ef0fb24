// GraphQL Yoga on node:http: the query, its resolvers and a failing one are below the request.
import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own fails
server POST (no route) 200
  own order 7
`;
export const alone =
  'The program asks for what runs in a resolver, which needs no instrumentation.';

export async function run() {
  const schema = createSchema({
    typeDefs: 'type Query { order(id: Int): String, fails: String }',
    resolvers: {
      Query: {
        order: async (_, { id }) => {
          own(`order ${id}`);
          return 'ok';
        },
        fails: () => {
          own('fails');
          throw new Error('no');
        },
      },
    },
  });
  const url = await listen(createServer(createYoga({ schema, logging: false })));
  const headers = { 'content-type': 'application/json' };
  for (const query of ['{ order(id: 7) }', '{ fails }']) {
    await ask(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  }
}
