// A server with classes of its own for requests and responses.
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own end
  own end of the class
  own push
`;
export const difference =
  'OpenTelemetry has methods that Node calls outside of the request, because it binds emitters only.';

export async function run() {
  class Request extends IncomingMessage {
    push(chunk, encoding) {
      if (chunk !== null) own('push');
      return super.push(chunk, encoding);
    }
  }
  class Response extends ServerResponse {
    end(...args) {
      own('end of the class');
      return super.end(...args);
    }
  }
  const options = { IncomingMessage: Request, ServerResponse: Response };
  const server = createServer(options, (request, response) => {
    request.on('end', () => {
      own('end');
      response.end();
    });
    request.resume();
  });
  await ask(await listen(server), { method: 'POST', body: 'small' });
}
