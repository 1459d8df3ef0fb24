// The older kind of signal: an event emitter.
import { EventEmitter } from 'node:events';
import { request } from 'undici';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock -
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'never' } });
  await own('call', async () => {
    const signal = new EventEmitter();
    setTimeout(() => signal.emit('abort'), 20);
    await request(stock, { signal }).catch(() => {});
    own('after');
  });
}
