// Two requests share a session of SNMP, which the first has opened.
import snmp from 'net-snmp';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own got 1
own request 2
  own got 2
`;
export const difference =
  'OpenTelemetry has callbacks below the request that opened the session. The request that asked is right.';

const PORT = 15_161;

export async function run() {
  const agent = snmp.createAgent({ port: PORT, disableAuthorization: true }, () => {});
  let session;
  const request = (n) =>
    own(`request ${n}`, () => {
      session ??= snmp.createSession('127.0.0.1', 'public', { port: PORT });
      return new Promise((resolve) => {
        session.get([`1.3.6.1.2.1.1.${n}.0`], () => {
          own(`got ${n}`);
          resolve();
        });
      });
    });
  await Promise.all([request(1), request(2)]);
  session.close();
  agent.close();
}
