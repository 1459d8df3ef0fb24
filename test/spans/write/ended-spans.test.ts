import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { configure, shutdown, startSpan } from '../../../src/spans/index.js';
import type { Span } from '../../../src/spans/index.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const directory = temporaryDirectory();

/** A span that has ended, in the context of a timer, and what it had. */
function endedSpan(): { timer: NodeJS.Timeout; span: Span; had: WeakRef<object>[] } {
  const tags = ['a', 'b'];
  const linked = startSpan('linked');
  linked.end();
  const details = { lines: ['one'] };
  const span = startSpan('kept', { tags }, { links: [{ to: linked }] });
  span.set('further', tags);
  span.event('happened', details);
  const timer = span.run(() => setInterval(() => undefined, 100_000));
  span.end();
  return { timer, span, had: [tags, linked, details.lines].map((each) => new WeakRef(each)) };
}

it('a context that outlives its span keeps no attributes, events and links', async () => {
  configure({ target: { file: `${directory}/ended.heph` } });
  const { timer, span, had } = endedSpan();
  // What a WeakRef has seen lives to the end of the turn.
  await pause(10);
  collect();
  collect();
  expect(span.ids.span_id).toMatch(/^[\da-f]{16}$/);
  expect(had.map((each) => each.deref())).toEqual([undefined, undefined, undefined]);
  clearInterval(timer);
  await shutdown();
});
