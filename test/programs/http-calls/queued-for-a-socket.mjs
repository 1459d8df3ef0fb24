// Two callers at once, one socket: the second waits, and its listeners run below it.
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own first
  client GET stock 200
  own first end
own second
  client GET stock 200
  own second end
`;

export async function run() {
  const url = await otherProcess('stock');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await Promise.all(
    ['first', 'second'].map((name) =>
      own(name, async () => {
        const sent = get(url, { agent }, (answer) => {
          answer.resume().once('end', () => own(`${name} end`));
        });
        await once(sent, 'close');
      }),
    ),
  );
  agent.destroy();
}
