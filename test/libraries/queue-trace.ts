import { expect } from 'vitest';
import type { SpanRecord } from '../../src/spans/index.js';
import { below, lineOf, treeOf } from './traced-library.js';

/** What the fixture of a queue has sent and processed, whatever the queue is called in this run. */
export function queueTree(spans: readonly SpanRecord[], of: string): string[] {
  const top = spans.find(({ name }) => name === of)!;
  return treeOf(spans, top).map((line) => line.replaceAll(/tracewright-\d+/g, 'orders'));
}

/**
 * Holds what is alike for all queues: the producer's context is the consumer's, unless the program has set its
 * own, and both have the names of the semantic conventions.
 *
 * @param attributesOf of both, by the name of the queue.
 * @returns the span of the consumer.
 */
export function expectCarriedOn(
  spans: readonly SpanRecord[],
  attributesOf: (queue: string) => Record<string, unknown>,
): SpanRecord {
  expect(queueTree(spans, 'sender')).toEqual(['publish orders', '  process orders', '    work']);
  expect(queueTree(spans, 'failing')).toEqual([
    'publish orders',
    '  process orders: E_WANTED',
    '    work',
  ]);
  // The context that the fixture has set itself.
  const own = spans.find(
    ({ kind, traceId }) => kind === 'consumer' && traceId === '0af7651916cd43dd8448eb211c80319c',
  )!;
  expect(own.parentSpanId).toBe('b7ad6b7169203331');

  const publish = below(spans, 'sender')[0]!;
  const queue = publish.name.replace('publish ', '');
  expect(publish.kind).toBe('producer');
  expect(publish.attributes).toEqual({
    ...attributesOf(queue),
    'messaging.operation.name': 'publish',
    'messaging.operation.type': 'send',
  });
  const process = spans.find((span) => lineOf(span) === `process ${queue}`)!;
  expect(process.kind).toBe('consumer');
  expect(process.attributes).toEqual({
    ...attributesOf(queue),
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
  });
  // The function of the program is waited for.
  expect(Number(process.end - process.start)).toBeGreaterThan(9e6);
  return process;
}
