// Two requests share a connection to a mailbox, which the first has opened.
import net from 'node:net';
import Imap from 'imap';
import { listen, own } from '../program.mjs';

export const expected = `
own request 1
  own boxes 1
own request 2
  own boxes 2
`;
export const difference =
  'OpenTelemetry has callbacks below the request that opened the connection. The request that asked is right.';

/** As much of the protocol as is asked here. */
const ANSWERS = {
  CAPABILITY: '* CAPABILITY IMAP4rev1\r\n',
  LIST: '* LIST () "/" INBOX\r\n',
  LOGOUT: '* BYE\r\n',
};

export async function run() {
  const server = net.createServer((socket) => {
    socket.write('* OK ready\r\n');
    socket.on('error', () => {});
    socket.on('data', (data) => {
      for (const [, tag, command] of String(data).matchAll(/^(\S+) (\w+)/gm)) {
        setTimeout(() => socket.write(`${ANSWERS[command] ?? ''}${tag} OK done\r\n`), 2);
      }
    });
  });
  await listen(server);
  const { port } = server.address();
  const imap = new Imap({ user: 'ada', password: 'x', host: '127.0.0.1', port, tls: false });
  let opening;
  const request = (n) =>
    own(`request ${n}`, async () => {
      opening ??= new Promise((resolve) => {
        imap.once('ready', resolve);
        imap.connect();
      });
      await opening;
      await new Promise((resolve) => {
        imap.getBoxes(() => {
          own(`boxes ${n}`);
          resolve();
        });
      });
    });
  await Promise.all([request(1), request(2)]);
  imap.destroy();
}
