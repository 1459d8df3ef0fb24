import { TURNS } from '../engine/published-calls.js';
import type {
  CallChannel,
  CallChannels,
  PublishedMessage,
  TurnCalls,
} from '../engine/published-calls.js';
import { call, PUBLISHES } from './injected-file.js';
import type { ChangedText, Injection } from './injected-file.js';
import { dispatchTexts, patternCalls } from './router-patterns.js';

type Next = (error?: unknown) => void;

interface LayerMessage extends PublishedMessage {
  handler: (request: unknown, response: unknown, next: Next) => unknown;
  layer: unknown;
  req: unknown;
  route: unknown;
}

/** Functions of the router. What is no promise is undefined. */
type HandlePromise = (result: unknown) => PromiseLike<unknown> | undefined;
type WrapNext = (message: LayerMessage, next: Next) => Next;
type RecordThrown = (message: LayerMessage, error: unknown, isSync: boolean) => void;

/**
 * Calls functions of the program as the router does, and records that, without the closures and events that its channel
 * takes.
 *
 * @returns what the router asks to do so; it returns false where the router has to do it.
 */
function handlerOf(start: CallChannel) {
  return (
    message: LayerMessage,
    response: unknown,
    next: Next,
    handlePromise: HandlePromise,
    wrapNext: WrapNext,
    recordThrown: RecordThrown,
  ): boolean => {
    const turns = start[TURNS];
    if (turns?.isAlone !== true) return false;
    const running = turns.begin(message);
    const goOn = running === undefined ? next : wrapNext(message, next);
    let promise: PromiseLike<unknown> | undefined;
    try {
      const { handler: fn } = message;
      promise = handlePromise(fn(message.req, response, goOn));
    } catch (error) {
      goOn(error);
      if (running !== undefined) recordThrown(message, error, true);
    }
    if (running !== undefined) turns.returned(message, running, promise !== undefined);
    if (promise !== undefined) watch(turns, message, running, promise, goOn, recordThrown);
    return true;
  };
}

function watch(
  turns: TurnCalls,
  message: LayerMessage,
  running: object | undefined,
  promise: PromiseLike<unknown>,
  goOn: Next,
  recordThrown: RecordThrown,
): void {
  const rejected = (error: unknown): void => {
    goOn(error);
    if (running === undefined) return;
    recordThrown(message, error, false);
    turns.ended(message, running);
  };
  try {
    promise.then(
      () => {
        if (running !== undefined) turns.ended(message, running);
      },
      (error: unknown) => {
        rejected(error || new Error('Rejected promise'));
      },
    );
  } catch (error) {
    // A `then` of the program.
    rejected(error);
  }
}

const OF_ROUTER = 'express.router.request';
const OF_EXPRESS_4 = 'orchestrion:express:layer';

/** Of the package `router`, in all versions. */
const layerMade: ChangedText = {
  channel: OF_ROUTER,
  isOfRoutes: true,
  from: 'this.handle = fn',
  to: '$match; $channel.made(this, path, opts.end === false)',
};

function dispatched(channel: string, path: string): readonly ChangedText[] {
  return dispatchTexts(channel, 'req.params = self.mergeParams', `${path}.length !== 0`, [
    'layer',
    'path',
    'layerError',
  ]);
}

/** `router`, which Express 5 has, and `connect`, of which only the routes are recorded. */
export const express: Injection = {
  files: [
    {
      package: 'router',
      path: /^lib\/layer\.js$/,
      // What the text names must be there.
      only: /recordThrown,.* wrapNext \}[^]*function handlePromise/,
      texts: [
        layerMade,
        {
          channel: OF_ROUTER,
          from: 'if (this.route || !shouldTrace(requestChannel)) {',
          to: 'if (!this.route && $channel.handled({ handler: fn, layer: this, req, route: req[matchedRoute] }, res, next, handlePromise, wrapNext, recordThrown)) return; $match',
          isOptional: true,
        },
      ],
    },
    { package: 'router', path: /^lib\/layer\.js$/, only: PUBLISHES, texts: [layerMade] },
    {
      package: 'router',
      path: /^lib\/layer\.js$/,
      texts: [
        layerMade,
        {
          channel: OF_ROUTER,
          from: /\bfn\(req, res, next\)/,
          // A route's own handlers are published.
          to: '(this.route ? $match : $channel.traceSync(fn, { handler: fn, layer: this, req, route: req.route?.path }, void 0, req, res, next))',
        },
        call(
          OF_ROUTER,
          'fn(error, req, res, next',
          'errorHandler: true, handler: fn, layer: this, req',
        ),
      ],
    },
    {
      package: 'router',
      path: /^index\.js$/,
      only: PUBLISHES,
      texts: dispatched(OF_ROUTER, 'match.path'),
    },
    {
      package: 'router',
      path: /^index\.js$/,
      texts: [
        ...dispatched(OF_ROUTER, 'layer.path'),
        call(
          OF_ROUTER,
          'fn(req, res, paramCallback, paramVal, key',
          'handler: fn, param: key, req',
        ),
      ],
    },
    {
      package: 'connect',
      path: /^index\.js$/,
      texts: [
        {
          channel: OF_ROUTER,
          isOfRoutes: true,
          from: '{ route: path, handle: handle }',
          to: '$channel.made($match, path, true)',
        },
        ...dispatchTexts(OF_ROUTER, '// call the layer handle', "route !== ''", [
          'layer',
          'path',
          'err',
        ]),
      ],
    },
  ],
  calls: ({ start }: CallChannels) => ({ handled: handlerOf(start), ...patternCalls }),
};

export const express4: Injection = {
  files: [
    {
      package: 'express',
      path: /^lib\/router\/layer\.js$/,
      texts: [
        {
          channel: OF_EXPRESS_4,
          isOfRoutes: true,
          from: 'this.handle = fn',
          to: '$match; $channel.made(this, path, opts.end === false, (each) => pathRegexp(each, [], opts))',
        },
        call(OF_EXPRESS_4, 'fn(req, res, next', 'handler: fn, layer: this, req'),
        call(
          OF_EXPRESS_4,
          'fn(error, req, res, next',
          'failed: error, handler: fn, layer: this, req',
        ),
      ],
    },
    {
      package: 'express',
      path: /^lib\/router\/index\.js$/,
      texts: [
        ...dispatched(OF_EXPRESS_4, 'layer.path'),
        call(
          OF_EXPRESS_4,
          'fn(req, res, paramCallback, paramVal, key.name',
          'handler: fn, param: key.name, req',
        ),
      ],
    },
  ],
  calls: () => patternCalls,
};
