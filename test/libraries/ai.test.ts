import { describe, expect, it } from 'vitest';
import { below, runLibrary, treeOf } from './traced-library.js';

describe('ai', () => {
  it.each(['newest', 'oldest'] as const)('its %s version is recorded', async (age) => {
    const { spans } = await runLibrary('ai', age, 'ai');
    const tree = (of: string): string[] =>
      treeOf(
        spans,
        spans.find(({ name }) => name === of)!,
      );
    // The server is of the same process.
    expect(tree('text')).toEqual([
      'invoke_agent large-1',
      '  step',
      '    chat large-1',
      '      POST',
      '        POST',
    ]);
    expect(tree('tools').map((line) => line.trim())).toEqual([
      'invoke_agent large-1',
      'step',
      'chat large-1',
      'POST',
      'POST',
      'execute_tool weather',
      'forecast',
      'step',
      'chat large-1',
      'POST',
      'POST',
    ]);
    expect(tree('stream')).toEqual(['invoke_agent large-1', '  step', '    chat large-1']);
    expect(tree('failing').slice(0, 3)).toEqual([
      'invoke_agent large-1: ProviderError',
      '  step: ProviderError',
      '    chat large-1: ProviderError',
    ]);
    expect(tree('embedding')).toEqual(['embeddings vectors-1']);

    const [text] = below(spans, 'text');
    expect(text!.kind).toBe('internal');
    expect(text!.scope).toMatchObject({ name: 'tracewright/ai' });
    expect(text!.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'acme',
      'gen_ai.request.model': 'large-1',
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 3,
    });
    const tool = spans.find(({ name }) => name === 'execute_tool weather')!;
    expect(tool.attributes).toMatchObject({ 'gen_ai.tool.name': 'weather' });
  });
});
