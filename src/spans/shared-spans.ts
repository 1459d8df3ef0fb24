import { shared } from '../core/process-state.js';
import { CarriedBaggage, CarriedLinks } from './context/carried.js';
import { activeContext, CarriedScope } from './context/active-context.js';
import {
  applyIn,
  areInResources,
  contextOfFrame,
  contextStorage,
  enterContext,
  leaveContext,
  runWith,
  runWithOne,
  swapContext,
} from './context/context-storage.js';
import { areObserved, observeSpans } from './observer.js';
import { extract, getBaggage, inject, noteInjected, sendSpan, withBaggage } from './propagation.js';
import { configure, flush, shutdown } from './recording.js';
import { routeOf, setRoute } from './route.js';
import { prefixOf } from './slot/prefix.js';
import { Span } from './span.js';
import { activeSpan, bind, withSpan } from './active-span.js';
import {
  discard,
  endRequest,
  endWaiting,
  startIn,
  startInWith,
  startRequest,
} from './begin-span.js';
import { startScopedSpan, startSpan } from './start-span.js';
import { isOpen, openThreadSpans } from './thread-spans.js';
import { standIn } from './unrecorded-span.js';

/**
 * The functions of the first copy of this package in the thread: all copies have one context, one output and
 * one class of spans.
 */
export const spans = shared('spans', () => ({
  CarriedBaggage,
  CarriedLinks,
  CarriedScope,
  Span,
  activeContext,
  activeSpan,
  applyIn,
  areInResources,
  areObserved,
  bind,
  configure,
  contextOfFrame,
  contextStorage,
  discard,
  endRequest,
  endWaiting,
  enterContext,
  extract,
  flush,
  getBaggage,
  inject,
  leaveContext,
  noteInjected,
  observeSpans,
  isOpen,
  openThreadSpans,
  prefixOf,
  routeOf,
  runWith,
  runWithOne,
  sendSpan,
  setRoute,
  shutdown,
  standIn,
  startIn,
  startInWith,
  startRequest,
  startScopedSpan,
  startSpan,
  swapContext,
  withBaggage,
  withSpan,
}));
