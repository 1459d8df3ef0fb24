// A pool with one connection, which the first request has opened.
import { once } from 'node:events';
import nodemailer from 'nodemailer';
import { SMTPServer } from 'smtp-server';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own sent 1
own request 2
  own sent 2
`;
export const difference =
  'OpenTelemetry has both callbacks below the first request. Each is its caller’s.';

export async function run() {
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, session, done) {
      stream.resume();
      stream.once('end', done);
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address();
  const mailer = nodemailer.createTransport({
    pool: true,
    maxConnections: 1,
    host: '127.0.0.1',
    port,
    ignoreTLS: true,
  });
  const mail = { from: 'shop@shop.example', to: 'someone@shop.example', text: 'Thanks.' };
  const request = (n) =>
    own(
      `request ${n}`,
      () =>
        new Promise((resolve) => {
          mailer.sendMail(mail, () => {
            own(`sent ${n}`);
            resolve();
          });
        }),
    );
  await Promise.all([request(1), request(2)]);
  mailer.close();
  await new Promise((resolve) => server.close(resolve));
}
