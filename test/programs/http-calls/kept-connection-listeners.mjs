// Two callers use one kept connection: listeners of each run below their caller.
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own first
  client GET stock 200
  own first close
  own first data
  own first end
  own first response
own second
  client GET stock 200
  own second close
  own second data
  own second end
  own second response
`;

export async function run() {
  const url = await otherProcess('stock');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (const name of ['first', 'second']) {
    await own(name, async () => {
      const sent = get(url, { agent }, (answer) => {
        own(`${name} response`);
        answer.once('data', () => own(`${name} data`));
        answer.once('end', () => own(`${name} end`));
      });
      sent.once('close', () => own(`${name} close`));
      await once(sent, 'close');
    });
    await new Promise(setImmediate);
  }
  agent.destroy();
}
