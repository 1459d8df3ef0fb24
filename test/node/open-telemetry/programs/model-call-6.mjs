// Asks a model by version 6 of the AI SDK, which has its telemetry in itself.

import { generateText } from 'ai-6';
import { createOpenAICompatible } from 'openai-compatible-2';
import { close, options } from './model-server.mjs';

const { text } = await generateText({
  model: createOpenAICompatible(options)('small'),
  prompt: 'What is two and two?',
  experimental_telemetry: { isEnabled: true, functionId: 'sum' },
});
console.log(text);
close();
