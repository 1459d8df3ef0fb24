/**
 * Loads AsyncLocalStorage. On Node 24 and 25 that changes how Node keeps the context of each callback, and what V8
 * has learnt of it until then is slow from then on: half a microsecond a request, with context or without.
 */
function settleAsyncContext(): unknown {
  return process.getBuiltinModule('node:async_hooks').AsyncLocalStorage;
}

/** An object that `process.nextTick` has made. */
let tick: object | undefined;

/**
 * Keeps the shape of the objects alive that `process.nextTick` makes of a literal with computed names. If V8 collects
 * that shape before it has compiled the function, as it does while a service is idle for ten seconds, each of them
 * takes a microsecond more for as long as the process runs.
 */
function keepTick(): void {
  const { executionAsyncResource } = process.getBuiltinModule('node:async_hooks');
  process.nextTick(() => {
    tick = executionAsyncResource();
  });
}

/** Has Node's own functions stay as fast as V8 can make them. Once a thread. */
export function keepNodeFast(): void {
  settleAsyncContext();
  if (tick === undefined) keepTick();
}
