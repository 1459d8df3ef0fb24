import { shared } from '../core/process-state.js';
import { activeContext } from './context/active-context.js';
import { contextStorage, runWith } from './context/context-storage.js';
import { extract, getBaggage, inject, injectSpan, withBaggage } from './propagation.js';
import { configure, flush, recordInto, shutdown } from './recording.js';
import { routeOf, setRoute } from './route.js';
import { activeSpan, bind, startScopedSpan, startSpan, withSpan } from './spans.js';

/**
 * The functions of the first copy of this package in the thread: all copies have one context, one output and
 * one class of spans.
 */
export const spans = shared('spans', () => ({
  activeContext,
  activeSpan,
  bind,
  configure,
  contextStorage,
  extract,
  flush,
  getBaggage,
  inject,
  injectSpan,
  recordInto,
  routeOf,
  runWith,
  setRoute,
  shutdown,
  startScopedSpan,
  startSpan,
  withBaggage,
  withSpan,
}));
