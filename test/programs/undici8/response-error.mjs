// The interceptor `responseError` rejects what was answered; one for DNS asks by an address. Both are below their caller.
import { Agent, interceptors, request } from 'undici';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own by name
  client GET stock 200
  own after 200
own refused
  client GET stock 503 !503
  own after 503
`;
export const nodes = 22;

export async function run() {
  const stock = await otherProcess('stock', { '/busy': { status: 503, body: 'busy' } });
  const agent = new Agent();
  await own('refused', async () => {
    const dispatcher = agent.compose(interceptors.responseError());
    const { statusCode } = await request(`${stock}/busy`, { dispatcher }).catch((error) => error);
    own(`after ${statusCode}`);
  });
  await own('by name', async () => {
    const dispatcher = agent.compose(interceptors.dns());
    const { port } = new URL(stock);
    const { statusCode, body } = await request(`http://localhost:${port}/`, { dispatcher });
    await body.dump();
    own(`after ${statusCode}`);
  });
  await agent.close();
}
