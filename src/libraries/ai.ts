import type { Span } from '../spans/span.js';
import type { SpanKind } from '../spans/layout.js';
import * as names from './engine/conventions.js';
import { number, requiredText, text } from './engine/payload.js';
import type { Description, Library, Operation } from './library.js';

/** Instructions, messages, tools' arguments and headers are never read. */
interface Telemetry {
  type?: unknown;
  event?: { provider?: unknown; modelId?: unknown; toolCall?: { toolName?: unknown } };
  result?: unknown;
}

/** Its numbers are those of a call, or of the answer of a model, which has more kinds of tokens. */
interface Result {
  usage?: { inputTokens?: unknown; outputTokens?: unknown };
}

/** Names of the SDK, with those of the conventions. */
const OPERATIONS: Readonly<Record<string, string>> = {
  generateText: 'invoke_agent',
  streamText: 'invoke_agent',
  generateObject: 'invoke_agent',
  streamObject: 'invoke_agent',
  languageModelCall: 'chat',
  executeTool: 'execute_tool',
  embed: 'embeddings',
  embedMany: 'embeddings',
  rerank: 'rerank',
};
const OTHER_TYPE = /^[A-Za-z_]{1,48}$/;
const MAX_NAME = 128;

function nameOf(value: unknown): string | undefined {
  return text(value)?.slice(0, MAX_NAME);
}

function description({ type, event = {} }: Telemetry): Description | undefined {
  const kind = requiredText(type, 'type');
  const operation = OPERATIONS[kind] ?? (OTHER_TYPE.test(kind) ? kind : names.OTHER);
  const model = nameOf(event.modelId);
  const tool = kind === 'executeTool' ? nameOf(event.toolCall?.toolName) : undefined;
  return {
    name: `${operation} ${tool ?? model ?? ''}`.trimEnd(),
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': nameOf(event.provider),
      'gen_ai.request.model': model,
      'gen_ai.tool.name': tool,
    },
  };
}

function tokens(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null) return number(value);
  return number((value as { total?: unknown }).total);
}

function finish(span: Span, { result }: Telemetry): void {
  const { usage } = (result ?? {}) as Result;
  if (typeof usage !== 'object') return;
  span.set(names.GEN_AI_INPUT_TOKENS, tokens(usage.inputTokens));
  span.set(names.GEN_AI_OUTPUT_TOKENS, tokens(usage.outputTokens));
}

const KIND: SpanKind = 'internal';

/** The SDK publishes all that it does on one channel: its calls are below the operation that makes them. */
const telemetry: Operation<Telemetry> = {
  channel: 'ai:telemetry',
  kind: KIND,
  nests: true,
  describe: description,
  finish,
};

export const ai: Library = { name: 'ai', operations: [telemetry] };
