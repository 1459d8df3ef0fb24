import { expect, test } from 'vitest';
import { startRequest } from '../../src/spans/begin-span.js';
import { prefixOf } from '../../src/spans/slot/prefix.js';
import { RemoteParent } from '../../src/spans/context/remote-parent.js';
import type { TraceParent } from '../../src/spans/context/trace-context.js';
import { Scope } from '../../src/spans/scope.js';
import { NOTHING } from '../../src/spans/unrecorded-span.js';

const scope = new Scope('test');

test('without a target a request is nothing if its caller has sent nothing to pass on', () => {
  const start = (parent: RemoteParent | undefined): unknown =>
    startRequest(prefixOf('GET', scope, 0), {}, '', parent, true);
  expect(start(undefined)).toBe(NOTHING);
  // A format of the program can find neither a span nor baggage.
  expect(start(new RemoteParent(undefined, '', undefined))).toBe(NOTHING);
  const parent: TraceParent = { trace: [1, 2, 3, 4], span: [5, 6], flags: 1 };
  expect(start(new RemoteParent(parent, '', undefined))).not.toBe(NOTHING);
});
