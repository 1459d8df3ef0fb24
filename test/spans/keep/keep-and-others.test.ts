import { afterEach, expect, test } from 'vitest';
import { callBeforeEnd } from '../../../src/spans/before-end.js';
import { observeSpans } from '../../../src/spans/observer.js';
import type { Span } from '../../../src/spans/span.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { recorded } from '../span-trace.js';
import { began, child, kept } from './kept-run.js';

const directory = temporaryDirectory();
const LATE = 5000;

afterEach(() => {
  observeSpans(undefined as never);
  callBeforeEnd(undefined);
});

test('what observes spans sees the ids of a late one as they are recorded', async () => {
  const seen: string[] = [];
  const { spans } = await kept({ errors: true }, () => {
    observeSpans({
      started: (span: Span) => seen.push(`${span.ids.trace_id} ${span.ids.span_id}`),
      ending: () => true,
      ended: () => undefined,
    });
    const root = began(0, 'root');
    root.fail(new Error('no')).end();
    const startTime = Date.now() + LATE + 200;
    startSpan('late', {}, { parent: root, startTime }).fail(new Error('no')).end();
  });
  expect(spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`).sort()).toEqual(seen.sort());
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(2);
});

test('what is kept is redacted, also long after its trace', async () => {
  const spans = await recorded(
    directory,
    () => {
      const root = startSpan('root', { 'app.token': 'x' }, { parent: null, kind: 'server' });
      child(root).set('app.token', 'y').end();
      root.fail(new Error('no')).end();
      const startTime = Date.now() + LATE + 200;
      const late = startSpan('late', { 'app.token': 'z' }, { parent: root, startTime });
      late.fail(new Error('no')).end();
    },
    { keep: { errors: true }, redact: { mask: ['app.token'] } },
  );
  expect(spans.map(({ name }) => name).sort()).toEqual(['late', 'query', 'root']);
  for (const { attributes } of spans) expect(attributes['app.token']).toBe('***');
  expect(spans.find(({ name }) => name === 'late')!.links).toHaveLength(1);
});
