// Asks a model by the AI SDK, with its telemetry. The model answers here.

import { createServer } from 'node:http';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText } from 'ai';

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
const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
const provider = createOpenAICompatible({ name: 'test', apiKey: 'none', baseURL });
const { text } = await generateText({
  model: provider('small'),
  prompt: 'What is two and two?',
  experimental_telemetry: { isEnabled: true, functionId: 'sum' },
});
console.log(text);
server.close();
server.closeAllConnections();
