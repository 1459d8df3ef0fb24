// Two requests share a connection to LDAP, which the first has opened: callbacks, and events of a search.
import ldap from 'ldapjs';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own bound 1
  own end 1
  own entry 1
own request 2
  own bound 2
  own end 2
  own entry 2
`;
export const difference =
  'OpenTelemetry has callbacks below the request that opened the connection. The request that asked is right.';

export async function run() {
  const server = ldap.createServer();
  server.bind('cn=root', (request, response, next) => {
    setTimeout(() => {
      response.end();
      next();
    }, 5);
  });
  server.search('o=shop', (request, response, next) => {
    setTimeout(() => {
      response.send({ dn: 'o=shop', attributes: { objectclass: ['organization'], o: 'shop' } });
      response.end();
      next();
    }, 5);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  let client;
  const request = (n) =>
    own(`request ${n}`, async () => {
      client ??= ldap.createClient({ url: server.url });
      await new Promise((resolve) => {
        client.bind('cn=root', 'password', () => {
          own(`bound ${n}`);
          resolve();
        });
      });
      await new Promise((resolve) => {
        client.search('o=shop', {}, (_, search) => {
          search.on('searchEntry', () => own(`entry ${n}`));
          search.on('end', () => {
            own(`end ${n}`);
            resolve();
          });
        });
      });
    });
  await Promise.all([request(1), request(2)]);
  await new Promise((resolve) => client.unbind(resolve));
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
}
