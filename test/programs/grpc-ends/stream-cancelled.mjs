// The program cancels a stream after the first answer.
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
  client grpc shop.Shop/List CANCELLED
    server grpc shop.Shop/List CANCELLED
  own after
`;
export const difference =
  'OpenTelemetry reports an error of the client: the program has given the call up itself.';
export const nodes = 22;

export async function run() {
  const server = new Server();
  server.addService(
    { call: method('Call'), list: method('List', true) },
    {
      call() {},
      list: (call) => call.write(Buffer.from('y')),
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
    const { path, requestSerialize, responseDeserialize } = method('List', true);
    const answers = client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      Buffer.from('x'),
    );
    answers.on('error', () => {});
    answers.once('data', () => answers.cancel());
    await new Promise((resolve) => answers.once('status', resolve));
    own('after');
  });
  client.close();
  server.forceShutdown();
}
