// An agent with a default port: it is the port that is called.
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own caller
  client GET stock 200
`;
export const difference = 'OpenTelemetry does not ask the agent: the port is not 80.';

/** Reads an answer that says which headers were received. */
async function check(answer) {
  let body = '';
  for await (const chunk of answer) body += chunk;
  if (!/^00-[\da-f]{32}-[\da-f]{16}-0[13]$/.test(JSON.parse(body).traceparent))
    throw new Error(body);
}

export async function run() {
  const url = await otherProcess('stock');
  const agent = new Agent();
  agent.defaultPort = Number(new URL(url).port);
  await own('caller', async () => {
    const sent = get({ host: '127.0.0.1', agent });
    const [answer] = await once(sent, 'response');
    await check(answer);
  });
}
