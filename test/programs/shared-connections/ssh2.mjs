// Two requests share a connection of SSH, which the first has opened: each command is below the request that ran it.
import { once } from 'node:events';
import ssh2 from 'ssh2';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own closed 1
  own output 1
  own started 1
own request 2
  own closed 2
  own output 2
  own started 2
`;
export const difference =
  'OpenTelemetry has callbacks below the request that opened the connection. The request that asked is right.';

function execute(accept) {
  const channel = accept();
  setTimeout(() => {
    channel.write('output');
    channel.exit(0);
    channel.end();
  }, 5);
}

export async function run() {
  const { private: key } = ssh2.utils.generateKeyPairSync('ed25519');
  const server = new ssh2.Server({ hostKeys: [key] }, (peer) => {
    peer.on('authentication', (attempt) => attempt.accept());
    peer.on('session', (accept) => accept().on('exec', execute));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  let opened;
  const open = async () => {
    const client = new ssh2.Client();
    const { port } = server.address();
    client.connect({ host: '127.0.0.1', port, username: 'user', password: 'password' });
    await once(client, 'ready');
    return client;
  };
  const request = (n) =>
    own(`request ${n}`, async () => {
      const client = await (opened ??= open());
      await new Promise((resolve) => {
        client.exec('count', (_, channel) => {
          own(`started ${n}`);
          channel.on('data', () => own(`output ${n}`));
          channel.on('close', () => {
            own(`closed ${n}`);
            resolve();
          });
        });
      });
    });
  await Promise.all([request(1), request(2)]);
  (await opened).end();
  await new Promise((resolve) => server.close(resolve));
}
