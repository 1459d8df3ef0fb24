// The program cancels a call.
import { Client, Server, ServerCredentials, credentials } from '@grpc/grpc-js';
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
  client grpc shop.Shop/Call CANCELLED
    server grpc shop.Shop/Call CANCELLED
  own after
`;
export const difference =
  'OpenTelemetry reports an error of the client: the program has given the call up itself.';
export const nodes = 22;

export async function run() {
  let arrived;
  const waiting = new Promise((resolve) => (arrived = resolve));
  const server = new Server();
  server.addService(
    { call: method('Call'), list: method('List', true) },
    {
      call: () => arrived(),
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
      const call = client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        Buffer.from('x'),
        resolve,
      );
      waiting.then(() => call.cancel());
    });
    own('after');
  });
  client.close();
  server.forceShutdown();
}
