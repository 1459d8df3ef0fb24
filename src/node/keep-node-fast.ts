/**
 * Loads AsyncLocalStorage. On Node 24 and 25 that changes how Node keeps the context of each callback, and what V8
 * has learnt of it until then is slow from then on: half a microsecond a request, with context or without.
 */
function settleAsyncContext(): unknown {
  return process.getBuiltinModule('node:async_hooks').AsyncLocalStorage;
}

/** Objects with the first properties of those that `process.nextTick` makes. */
let ticks: readonly object[] | undefined;

/**
 * Keeps the shape of the objects alive that `process.nextTick` makes of a literal with computed names. If V8 collects
 * that shape before it has compiled the function, as it does while a service is idle for ten seconds, each of them
 * takes a microsecond more for as long as the process runs.
 */
function keepTicks(): void {
  const { AsyncResource } = process.getBuiltinModule('node:async_hooks');
  const symbols = Object.getOwnPropertySymbols(new AsyncResource('TRACEWRIGHT'));
  const named = (name: string): symbol | undefined =>
    symbols.find(({ description }) => description === name);
  const [id, trigger] = [named('async_id_symbol'), named('trigger_async_id_symbol')];
  if (id === undefined || trigger === undefined) return;
  // Node's literal has four names, or five. The numbers are as Node's: fractional ones are never small integers.
  ticks = [
    { [id]: 0.5, [trigger]: 0.5, callback: undefined, args: undefined },
    {
      [id]: 0.5,
      [trigger]: 0.5,
      [Symbol('frame')]: undefined,
      callback: undefined,
      args: undefined,
    },
  ];
}

/** Has Node's own functions stay as fast as V8 can make them. Once a thread. */
export function keepNodeFast(): void {
  settleAsyncContext();
  if (ticks === undefined) keepTicks();
}
