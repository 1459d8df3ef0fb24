import { isAnswered } from './engine/answered-errors.js';
import { isMiddleware } from './engine/middleware.js';
import { requiredObject, text } from './engine/payload.js';
import { isRouter, nameOf } from './express.js';
import type { Library, Operation } from './library.js';

/** The message of an injected channel for a function that a request goes through. */
interface Call {
  req?: unknown;
  handler?: unknown;
  /** Of the router or of a route; undefined for a handler of a parameter. */
  layer?: { route?: unknown };
  param?: unknown;
  /** Of an error handler: what has failed. */
  failed?: unknown;
}

interface Routed {
  route?: { path?: unknown };
  query?: unknown;
}

/** Those of Express itself, which come before any of the program. */
function isOfExpress(name: string | undefined, request: Routed): boolean {
  return name === 'expressInit' || (name === 'query' && request.query === undefined);
}

const layer: Operation<Call> = {
  channel: 'orchestrion:express:layer',
  kind: 'internal',
  nests: true,
  isMinor: isMiddleware,
  isHandler: true,
  needsParent: true,
  // A function that calls `next` has had its turn. The call returns when all others are done.
  turnsOn: ({ req }) => requiredObject(req, 'req'),
  describe(call) {
    const handler = requiredObject(call.handler, 'handler');
    const request = requiredObject(call.req, 'req') as Routed;
    const name = text((handler as { name?: unknown }).name);
    // A route's own handlers are published.
    if (call.layer?.route !== undefined || isRouter(handler, name)) return undefined;
    if (isOfExpress(name, request)) return undefined;
    const route = request.route?.path;
    const errorHandler = 'failed' in call;
    return {
      name: nameOf({ ...call, errorHandler, route }, name),
      attributes: { 'code.function.name': name },
    };
  },
  isControlFlow: isAnswered,
};

/** `express` 4, into which the channel is injected. */
export const express4: Library = { name: 'express4', operations: [layer] };
