// A model of the AI SDK that answers here.

import { createServer } from 'node:http';

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        id: '1',
        object: 'chat.completion',
        created: 1,
        model: 'small',
        choices: [
          { index: 0, message: { role: 'assistant', content: 'Four.' }, finish_reason: 'stop' },
        ],
        usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
      }),
    );
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

/** The options of its provider. */
export const options = {
  name: 'test',
  apiKey: 'none',
  baseURL: `http://127.0.0.1:${server.address().port}/v1`,
};

export function close() {
  server.close();
  server.closeAllConnections();
}
