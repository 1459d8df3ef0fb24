// github.com/graphql-hive/gateway/issues/523: a subscription, sent as events, that its client ends.
import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own begun
  own ended
  own resolved 1
  own resolved 2
`;
export const alone = 'OpenTelemetry records the beginning of a subscription only.';

export async function run() {
  const yoga = createYoga({
    logging: false,
    schema: createSchema({
      typeDefs: 'type Query { none: Int } type Subscription { count(to: Int!): Int! }',
      resolvers: {
        Subscription: {
          count: {
            async *subscribe(_, { to }) {
              own('begun');
              for (let n = 1; n <= to; n++) {
                yield { count: n };
                await new Promise((resolve) => setImmediate(resolve));
              }
              own('ended');
            },
            resolve: ({ count }) => {
              own(`resolved ${count}`);
              return count;
            },
          },
        },
      },
    }),
  });
  const url = await listen(createServer(yoga));
  const query = encodeURIComponent('subscription { count(to: 2) }');
  await ask(`${url}/graphql?query=${query}`, { headers: { accept: 'text/event-stream' } });
}
