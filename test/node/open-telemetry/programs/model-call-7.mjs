// Asks a model by version 7 of the AI SDK, which has its telemetry in a package of its own.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { OpenTelemetry } from '@ai-sdk/otel';
import { generateText, registerTelemetry } from 'ai';
import { close, options } from './model-server.mjs';

registerTelemetry(new OpenTelemetry());
const { text } = await generateText({
  model: createOpenAICompatible(options)('small'),
  prompt: 'What is two and two?',
  telemetry: { functionId: 'sum' },
});
console.log(text);
close();
