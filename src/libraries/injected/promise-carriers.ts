import { calls, carrier, texts } from './carrier.js';
import type { InjectedFile, Injection } from './injected-file.js';

/** Promises, fibers and tasks of libraries: what is ready in one turn runs together. */

/** Callbacks of promises run in one turn, which the first promise that was settled has asked for. */
export const bluebird: Injection = {
  files: [
    {
      package: 'bluebird',
      path: /^js\/release\/util\.js$/,
      texts: texts('bluebird', [['if (ctx.domain !== null)', 'cb = $channel.bound(cb); $match']]),
    },
    {
      package: 'bluebird',
      path: /^js\/release\/generators\.js$/,
      texts: texts('bluebird', [
        ['this._stack = stack;', '$channel.keep(this); $match'],
        [
          'tryCatch(this._generator.next).call(this._generator, value)',
          '$channel.as(this, () => $match)',
        ],
        [
          /tryCatch\(this\._generator\["throw"\]\)\s+\.call\(this\._generator, reason\)/,
          '$channel.as(this, () => $match)',
        ],
      ]),
    },
  ],
  calls,
};

export const q = carrier(
  'q',
  /^q\.js$/,
  [
    'Promise.prototype.then = function Promise_then(fulfilled, rejected, ms) {',
    '$match fulfilled = $channel.bound(fulfilled); rejected = $channel.bound(rejected);',
  ],
  ['task: task,', 'task: $channel.bound(task),'],
  [
    'Promise.prototype.then = function (fulfilled, rejected, progressed) {',
    '$match fulfilled = $channel.bound(fulfilled); rejected = $channel.bound(rejected); progressed = $channel.bound(progressed);',
  ],
);

/** The functions that a promise is given. Some libraries look for them in `arguments`. */
const thenOf = (fulfilled: string, rejected: string): string =>
  `$match ${fulfilled} = arguments[0] = $channel.bound(${fulfilled}); ${rejected} = arguments[1] = $channel.bound(${rejected});`;

export const es6Promise = carrier('es6-promise', /^dist\/es6-promise\.js$/, [
  'function then(onFulfillment, onRejection) {',
  thenOf('onFulfillment', 'onRejection'),
]);

export const rsvp = carrier('rsvp', /^dist\/rsvp\.js$/, [
  'function then(onFulfillment, onRejection, label) {',
  thenOf('onFulfillment', 'onRejection'),
]);

export const lie = carrier('lie', /^lib\/index\.js$/, [
  'Promise.prototype.then = function (onFulfilled, onRejected) {',
  thenOf('onFulfilled', 'onRejected'),
]);

export const promise = carrier('promise', /^(?:lib|domains|setimmediate|src)\/core\.js$/, [
  /function Handler\(onFulfilled, onRejected, promise\) ?\{/,
  thenOf('onFulfilled', 'onRejected'),
]);

export const when = carrier('when', /^lib\/makePromise\.js$/, [
  'Promise.prototype.then = function(onFulfilled, onRejected, onProgress) {',
  thenOf('onFulfilled', 'onRejected'),
]);

/** Tasks of one turn. */
export const asap = carrier('asap', /^asap\.js$/, [
  'rawTask.task = task;',
  'rawTask.task = $channel.bound(task);',
]);

/** Its addon calls back where nothing is active. */
export const bcrypt = carrier(
  'bcrypt',
  /^bcrypt\.js$/,
  ['function hash(data, salt, cb) {', '$match cb = $channel.bound(cb);'],
  [/(?<=bindings\.gen_salt\(minor, rounds, randomBytes, )cb/, '$channel.bound(cb)'],
  [/(?<=bindings\.compare\(data, hash, )cb/, '$channel.bound(cb)'],
);

/** As those of bcrypt. Its images are streams, too. */
export const sharp = carrier(
  'sharp',
  /^(?:lib|dist)\/(?:in|out)put\.[cm]?js$/,
  [
    /function _pipeline \(callback(?:, stack)?\) \{/,
    '$match callback = $channel.bound(callback); $channel.emits(this);',
  ],
  ...['metadata', 'stats'].map(
    (name) =>
      [`function ${name} (callback) {`, '$match callback = $channel.bound(callback);'] as const,
  ),
);

/** As those of bcrypt. */
export const sqlite3 = carrier(
  'sqlite3',
  /^lib\/sqlite3\.js$/,
  [
    /Array\.prototype\.slice\.call\(arguments, 1\)(?=;\s+if \(typeof args\[)/,
    '$match.map($channel.bound)',
  ],
  [
    'Statement.prototype.map = function() {',
    `for (const { prototype } of [Database, Statement]) for (const name of ['exec', 'wait', 'close', 'bind', 'get', 'run', 'all', 'each', 'reset', 'finalize']) { const original = prototype[name]; if (original !== undefined) prototype[name] = function(...given) { return original.apply(this, given.map($channel.bound)); }; } $match`,
  ],
);

/** As those of bcrypt. classic-level has callbacks before its version 2. */
const ofLevel = (name: string, file: string): InjectedFile => ({
  package: name,
  path: new RegExp(`^(?:${file}|iterator|chained-batch)\\.js$`),
  texts: texts('leveldown', [
    ...'open close put get getMany del clear batch write next nextv end'
      .split(' ')
      .map(
        (method) =>
          [
            new RegExp(`(?<= |\\.)_${method}(?: = function)? \\([^)]*\\bcallback\\) \\{`),
            '$match callback = $channel.bound(callback);',
          ] as const,
      ),
    // What waits until the database is open.
    ['{ method, args }', '$channel.kept($match)'],
    ['this[kInnerDb][op.method](...op.args)', '$channel.as(op, () => $match)'],
  ]),
});

export const leveldown: Injection = {
  files: [
    ofLevel('leveldown', 'leveldown'),
    ofLevel('deferred-leveldown', 'deferred-leveldown'),
    ofLevel('classic-level', 'index'),
  ],
  calls,
};

/** Its addon calls the functions of several callers in one transaction. */
export const lmdb = carrier('lmdb', /^(?:write\.js|dist\/index\.cjs)$/, [
  'transactionAsync(callback, asChild) {',
  '$match callback = $channel.bound(callback);',
]);

/** Fibers of one turn run together, and one may wake up another. */
export const effect = carrier(
  'effect',
  /^dist\/(?:cjs|esm)\/internal\/fiberRuntime\.js$/,
  ['this.currentRuntimeFlags = runtimeFlags0;', '$match $channel.keep(this);'],
  ['this.drainQueueOnCurrentThread()', '$channel.as(this, () => $match)'],
);

/** Its promises are its own. */
export const workerpool = carrier('workerpool', /^(?:src\/Promise|dist\/workerpool)\.js$/, [
  /\.then = function \(onSuccess, onFail\) \{/,
  '$match onSuccess = $channel.bound(onSuccess); onFail = $channel.bound(onFail);',
]);
