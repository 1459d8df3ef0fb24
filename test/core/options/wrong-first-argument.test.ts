import { describe, expect, it } from 'vitest';
import { TracewrightError } from '../../../src/core/errors.js';
import * as dumpi from '../../../src/dumpi/index.js';
import * as heph from '../../../src/heph/index.js';
import * as laplace from '../../../src/laplace/index.js';
import * as ovni from '../../../src/ovni/index.js';

type Call = (argument: unknown) => unknown;

/** These have no first argument, or take any. */
const NO_ARGUMENT = new Set(['clockNow', 'threadIsReady', 'createHandles']);
/** Numbers and lists of them are right here. */
const NUMERIC = new Set(['f64', 'i64', 'u64']);

/** What a call comes to, with the first of what it yields or resolves to. */
async function comesTo(call: Call, argument: unknown): Promise<unknown> {
  try {
    const result = (await call(argument)) as { next?: () => unknown } | undefined;
    if (typeof result?.next === 'function') await result.next();
    return 'no error';
  } catch (error) {
    return error;
  }
}

describe.each(Object.entries({ ovni, heph, dumpi, laplace }))('each function of %s', (_, api) => {
  const functions = Object.entries(api).filter(
    ([name, each]) => typeof each === 'function' && /^[a-z]/.test(name) && !NO_ARGUMENT.has(name),
  ) as [string, Call][];

  it.each(functions)('%s refuses a first argument of a wrong type by name', async (name, call) => {
    const wrong = [undefined, null, {}, Symbol('s')];
    for (const argument of NUMERIC.has(name) ? wrong : [5, true, [], ...wrong]) {
      const error = await comesTo(call, argument);
      expect([name, argument, error]).toEqual([name, argument, expect.any(TracewrightError)]);
      expect((error as TracewrightError).field).toEqual(expect.any(String));
    }
  });
});
