// The server does not find what the caller asks for: the call has failed, the server has not.
import { Client, Server, ServerCredentials, credentials, status } from '@grpc/grpc-js';
import { namePort, own } from '../program.mjs';

const bytes = { serialize: (value) => value, deserialize: (value) => value };
const method = (name, responseStream = false) => ({
  path: `/shop.Shop/${name}`,
  requestStream: false,
  responseStream,
  requestSerialize: bytes.serialize,
  requestDeserialize: bytes.deserialize,
  responseSerialize: bytes.serialize,
  responseDeserialize: bytes.deserialize,
});

export const expected = `
own call
  client grpc shop.Shop/Call NOT_FOUND !NOT_FOUND
    server grpc shop.Shop/Call NOT_FOUND
  own after
`;
export const difference =
  'OpenTelemetry reports an error of the server, which by its conventions has not failed.';
export const nodes = 22;

export async function run() {
  const server = new Server();
  server.addService(
    { call: method('Call'), list: method('List', true) },
    {
      call: (_, answer) => answer({ code: status.NOT_FOUND }),
      list() {},
    },
  );
  const port = await new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  namePort(port, 'shop');
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  await own('call', async () => {
    const { path, requestSerialize, responseDeserialize } = method('Call');
    await new Promise((resolve) => {
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        Buffer.from('x'),
        resolve,
      );
    });
    own('after');
  });
  client.close();
  server.forceShutdown();
}
