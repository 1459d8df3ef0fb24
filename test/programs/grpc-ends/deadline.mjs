// No answer comes before the deadline.
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
  client grpc shop.Shop/Call DEADLINE_EXCEEDED !DEADLINE_EXCEEDED
    server grpc shop.Shop/Call CANCELLED
  own after
`;
export const difference = 'OpenTelemetry has no span of the server: the handler never answers.';
export const nodes = 22;

export async function run() {
  const server = new Server();
  server.addService(
    { call: method('Call'), list: method('List', true) },
    {
      call() {},
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
    await new Promise((resolve) => client.waitForReady(Date.now() + 20_000, resolve));
    const { path, requestSerialize, responseDeserialize } = method('Call');
    await new Promise((resolve) => {
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        Buffer.from('x'),
        { deadline: Date.now() + 300 },
        resolve,
      );
    });
    own('after');
  });
  client.close();
  server.forceShutdown();
}
