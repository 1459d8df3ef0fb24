import { expect, it } from 'vitest';
import { interruptedText } from '../../../../src/look/report/print/interruption-texts.js';
import type { SlowTrace, WaitedFor } from '../../../../src/look/report/shape/trace-shape.js';

it('says of a trace how long it was blocked, unless it says by whom', () => {
  const trace = { duration: 713e6, stalls: 708e6, collections: 3e6, waitedFor: [] };
  const textOf = (waitedFor: Partial<WaitedFor>[]): string | undefined =>
    interruptedText({ ...trace, waitedFor } as unknown as SlowTrace);
  const collected = '3 ms (0.4 %) in garbage collections';
  expect(textOf([])).toBe(
    `of this, 708 ms (99.3 %) while the event loop was blocked and ${collected}`,
  );
  expect(textOf([{ kind: 'blocked', name: 'blocked by GET /search', time: 707e6 }])).toBe(
    `of this, ${collected}`,
  );
});
