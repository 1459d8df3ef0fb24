import { BoundedCache } from '../core/bounded-cache.js';
import { isAnswered } from './engine/answered-errors.js';
import { isMiddleware, middlewareName } from './engine/middleware.js';
import { isObject, requiredObject, text } from './engine/payload.js';
import type { Description, Library, Operation } from './library.js';

/** A function that a request goes through. */
export interface Layer {
  req?: unknown;
  handler?: unknown;
  /** Those of routes have a method, which is undefined for all methods. */
  layer?: unknown;
  /** The pattern that has matched: a text or a regular expression. */
  route?: unknown;
  /** Of a handler of a parameter: its name. */
  param?: unknown;
  errorHandler?: unknown;
}

const MAX_PATTERN = 256;
/** Routes for which the name of the span is kept. */
const KEPT = 256;

/** A router or an application within another one: its own handlers are published. */
export function isRouter(handler: object, name: string | undefined): boolean {
  return typeof (handler as { handle?: unknown }).handle === 'function' || name === 'mounted_app';
}

function handlerName(pattern: string): string {
  return `handler ${pattern.slice(0, MAX_PATTERN)}`.trimEnd();
}

const handlers = new BoundedCache(KEPT, MAX_PATTERN, handlerName);

function isOfRoute(layer: unknown): boolean {
  return isObject(layer) && 'method' in layer;
}

/** The name of a span: what a function is for, and its own name if that says more than a pattern. */
export function nameOf({ layer, route, param, errorHandler }: Layer, name = ''): string {
  if (errorHandler === true) return `error handler ${name}`.trimEnd();
  if (typeof param === 'string') return `param ${param}`;
  if (!isOfRoute(layer)) return middlewareName(name, layer);
  if (typeof route === 'string') return handlers.of(route);
  return handlerName(route instanceof RegExp ? String(route) : '');
}

/** A router's object of a function, with its last description and the message that this was for. */
interface Described extends Layer {
  description: Description | undefined;
}

const described = new WeakMap<object, Described>();

function describe({ layer, handler, route, errorHandler, param }: Layer): Description | undefined {
  const known = isObject(layer) ? described.get(layer) : undefined;
  if (
    known !== undefined &&
    known.handler === handler &&
    known.route === route &&
    known.errorHandler === errorHandler
  ) {
    return known.description;
  }
  const given = requiredObject(handler, 'handler');
  const name = text((given as { name?: unknown }).name);
  let description: Description | undefined;
  if (!isRouter(given, name)) {
    description = {
      name: nameOf({ layer, route, param, errorHandler }, name),
      attributes: { 'code.function.name': name },
      kept: { prefix: undefined },
    };
  }
  if (isObject(layer)) described.set(layer, { handler, route, errorHandler, description });
  return description;
}

/** Of the package `router`, which Express 5 has: middleware, handlers of routes and of errors. */
const layer: Operation<Layer> = {
  channel: 'express.router.request',
  kind: 'internal',
  nests: true,
  isMinor: isMiddleware,
  isHandler: true,
  // A store that is bound to the channel would be entered and left by a copy of all stores.
  entersByHand: true,
  handlesPromises: true,
  needsParent: true,
  // A function that calls `next` has had its turn. The call returns when all others are done.
  turnsOn: ({ req }) => requiredObject(req, 'req'),
  asksOnce: true,
  describe,
  isControlFlow: isAnswered,
};

export const express: Library = { name: 'express', operations: [layer] };
