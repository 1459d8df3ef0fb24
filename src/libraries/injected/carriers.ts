import { joinBatch, runBatch, runForAll } from '../engine/batch-callers.js';
import { asCaller, Caller, callOutside, setCaller } from '../engine/callers.js';
import { isObject } from '../engine/payload.js';
import { calls, carrier, texts } from './carrier.js';
import type { Injection } from './injected-file.js';

/** Queues, locks, batches and caches: one caller's function runs where another's has ended. */

/** A function runs for all that asked for a key of its batch. */
export const dataloader: Injection = {
  files: [
    {
      package: 'dataloader',
      path: /^index\.js$/,
      texts: [
        {
          channel: 'orchestrion:dataloader:batch',
          from: 'batch.keys.push(key);',
          to: '$channel.join(batch); $match',
        },
        {
          channel: 'orchestrion:dataloader:batch',
          from: 'loader._batchLoadFn(batch.keys)',
          to: '$channel.run(batch, () => $match)',
        },
      ],
    },
  ],
  calls: () => ({ join: joinBatch, run: runBatch }),
};

/** What Prisma's loader of batches is given. */
interface LoaderOptions {
  batchBy(request: object): unknown;
  batchLoader(requests: readonly object[]): unknown;
  singleLoader(request: object): unknown;
}

/** What is asked in one turn of the loop is asked together, or after each other where the first has asked. */
export const prisma: Injection = {
  files: [
    {
      package: '@prisma/client',
      path: /^runtime\/(?:binary|client|library)\.m?js$/,
      texts: texts('prisma', [
        ['this.options.batchBy(', '$channel.batchBy(this.options,'],
        ['this.options.batchLoader(', '$channel.batchLoader(this.options,'],
        // Of a batch of one.
        [/this\.options\.singleLoader\((?=\w+\[0\])/, '$channel.singleLoader(this.options,'],
      ]),
    },
  ],
  calls: () => ({
    batchBy(options: LoaderOptions, request: object) {
      setCaller(request);
      return options.batchBy(request);
    },
    batchLoader: (options: LoaderOptions, requests: readonly object[]) =>
      runForAll(requests, () => options.batchLoader(requests)),
    singleLoader: (options: LoaderOptions, request: object) =>
      asCaller(request, () => options.singleLoader(request)),
  }),
};

/** A task begins when another has ended. */
export const pQueue = carrier(
  'p-queue',
  /^dist\/index\.js$/,
  ...['fn', 'function_'].map(
    (fn) =>
      [
        new RegExp(`\\basync add\\(${fn}, options = \\{\\}\\) \\{`),
        `$match ${fn} = $channel.bound(${fn});`,
      ] as const,
  ),
);

/** Of a queue with priorities. */
const prioritized = [
  /if \(nextNode\) \{(?=\s+q\._tasks\.insertBefore\(nextNode, item\))/,
  '$channel.keep(item); $match',
] as const;

/** A worker takes a task when it has done another, or all tasks of a cargo. Callers of `memoize` wait for one load. */
export const async = carrier(
  'async',
  /^(?:dist\/async|internal\/queue|memoize|priorityQueue)\.js$/,
  [
    /\bvar memoized = \S*\((?:function memoized)?\(?args, callback\)(?: =>)? \{/,
    '$match callback = $channel.bound(callback);',
  ],
  ['if (insertAtFront)', '$channel.keep(item); $match'],
  prioritized,
  ['_worker(data, cb)', '$channel.all(tasks, () => $match)'],
  ['task.callback(err, ...args)', '$channel.as(task, () => $match)'],
);

export const neoAsync = carrier(
  'neo-async',
  /^async\.js$/,
  ['if (_unshift) {', '$channel.keep(item); $match'],
  prioritized,
  [/(?<=var callback = )args\.pop\(\)(?=;\s+var key = hasher)/, '$channel.bound($match)'],
  ['worker(task.data, done)', '$channel.as(task, () => $match)'],
  [
    /(?<=var done = _next\(q, tasks\);\s+)worker\(data, done\)/,
    '$channel.all(tasks, () => $match)',
  ],
  ['task.callback(err, res)', '$channel.as(task, () => $match)'],
  ['task.callback.apply(task, args)', '$channel.as(task, () => $match)'],
);

/** A function that waits for a lock runs where that is released. The library looks at the length of the program's function. */
export const asyncLock = carrier('async-lock', /^lib\/index\.js$/, [
  'var exec = function (locked) {',
  'var waiting = { caller: $channel.caller() }, exec = function (locked) { return waiting.caller.call(function () { return execute(locked); }); }, execute = function (locked) {',
]);

/** A job that waits begins when another has ended, or in a timer. */
export const bottleneck = carrier(
  'bottleneck',
  /^lib\/Job\.js$/,
  ['this.task = task;', '$channel.keep(this); $match'],
  ['_this.task(..._this.args)', '$channel.as(_this, () => $match)'],
);

/** A worker takes a task when it has done another. */
export const fastq = carrier(
  'fastq',
  /^queue\.js$/,
  ['reusify(Task)', '$channel.tasks($match)'],
  ['worker.call(context, next.value, next.worked)', '$channel.as(next, () => $match)'],
  ['callback.call(self.context, err, result)', '$channel.as(self, () => $match)'],
);

/** A function that waits begins when another has ended. */
export const cockatiel = carrier('cockatiel', /^dist\/BulkheadPolicy\.js$/, [
  /(?<=this\.queue\.push\(\{ [\w: ]+, )fn(?=,)/,
  'fn: $channel.bound(fn)',
]);

export const promiseLimit = carrier('promise-limit', /^index\.js$/, [
  'jobs.push({fn: fn,',
  'jobs.push({fn: $channel.bound(fn),',
]);

export const promiseQueue = carrier('promise-queue', /^lib\/index\.js$/, [
  'promiseGenerator: promiseGenerator,',
  'promiseGenerator: $channel.bound(promiseGenerator),',
]);

export const semaphore = carrier('semaphore', /^lib\/semaphore\.js$/, [
  'var task = item.task;',
  'var task = $channel.bound(item.task);',
]);

/** Several tickets may wait for one task. */
export const betterQueue = carrier(
  'better-queue',
  /^lib\/(?:queue|tickets)\.js$/,
  ['var ticket = new Ticket();', '$match $channel.keep(ticket);'],
  [
    /worker\.start\(\)(?<=_startBatch = function \(batch, tickets\b[^]*)/,
    '$channel.batch(Object.keys(tickets).flatMap((id) => tickets[id].tickets ?? []), () => $match)',
  ],
  ['ticket[fn].apply(ticket, args)', '$channel.as(ticket, () => $match)'],
);

/** What is called by a timer gets the arguments of the last call, and the first one has set the timer. */
export const lodash: Injection = {
  files: (
    [
      ['lodash', /^(?:debounce|lodash)\.js$/],
      ['lodash.debounce', /^index\.js$/],
      ['lodash.throttle', /^index\.js$/],
    ] as const
  ).map(([name, path]) => ({
    package: name,
    path,
    texts: texts('lodash', [
      ['lastArgs = arguments;', '$match $channel.again(debounced);'],
      [
        'result = func.apply(thisArg, args)',
        'result = $channel.as(debounced, () => func.apply(thisArg, args))',
      ],
    ]),
  })),
  calls,
};

/** Who asks for what is being loaded waits in a list. */
export const inflight = carrier('inflight', /^inflight\.js$/, [
  'function inflight (key, cb) {',
  '$match cb = $channel.bound(cb);',
]);

export const memoizee = carrier('memoizee', /^ext\/async\.js$/, [
  'currentCallback = last;',
  'currentCallback = $channel.bound(last);',
]);

export const lruMemoizer = carrier('lru-memoizer', /^lib\/async\.js$/, [
  'args.slice(-1).pop()',
  '$channel.bound($match)',
]);

/** A call of an action, or an event, waits until another has ended. */
export const moleculer = carrier(
  'moleculer',
  /^src\/middlewares\/bulkhead\.js$/,
  ...['REQUEST', 'EVENT'].map(
    (kind) =>
      [
        new RegExp(
          `\\{ resolve, reject, ctx \\}(?=\\)\\);\\s+broker\\.metrics\\.set\\(METRIC\\.MOLECULER_${kind}_)`,
        ),
        '$channel.kept($match)',
      ] as const,
  ),
  [/handler\(item\.ctx\)(?<!function wrapEvent[^]*)/, '$channel.as(item, () => $match)'],
  [/handler\(item\.ctx\)(?<=function wrapEvent[^]*)/, '$channel.as(item, () => $match)'],
);

export const mutexify = carrier('mutexify', /^index\.js$/, [
  'queue.push(fn)',
  'queue.push($channel.bound(fn))',
]);

export const vasync = carrier(
  'vasync',
  /^lib\/vasync\.js$/,
  ['this.queued.push(entry);', '$channel.keep(entry); $match'],
  [
    "wq.worker(entry['task'],",
    "((...all) => $channel.as(entry, () => wq.worker(...all)))(entry['task'],",
  ],
  ["entry['callback'].apply(null, arguments)", '$channel.as(entry, () => $match)'],
);

/** It is published minified. */
export const rwlock = carrier(
  'rwlock',
  /^lib\/lock\.js$/,
  [/(?<=var j=)!1(?=;if\(g\.queue\.push\(function\(\)\{!j)/, '(c=$channel.bound(c),!1)'],
  [/(?<=var j=)!1(?=;if\(g\.queue\.push\(function\(\)\{j\|\|)/, '(c=$channel.bound(c),!1)'],
);

/** By function of a queue: who has added it; undefined if it was added again meanwhile. */
const adders = new WeakMap<object, Caller | undefined>();

/** A job begins when another has ended. */
export const queue: Injection = {
  files: [
    {
      package: 'queue',
      path: /^index\.js$/,
      texts: texts('queue', [
        [/\bpush ?\(\.\.\.workers\) \{/, '$match $channel.added(workers);'],
        [/\bunshift ?\(\.\.\.workers\) \{/, '$match $channel.added(workers);'],
        [/\bsplice ?\(start, deleteCount, \.\.\.workers\) \{/, '$match $channel.added(workers);'],
        [
          /(?<=methodResult = )Array\.prototype\[method\]\.apply\(this\.jobs, arguments\)/,
          '($channel.added(arguments), $match)',
        ],
        ['job(next)', '$channel.run(job, () => $match)'],
      ]),
    },
  ],
  calls: () => ({
    added(jobs: ArrayLike<unknown>) {
      for (const job of Array.from(jobs)) {
        if (typeof job === 'function') adders.set(job, adders.has(job) ? undefined : new Caller());
      }
    },
    run(job: object, fn: () => unknown): unknown {
      const adder = adders.get(job);
      if (adder === undefined) return adders.has(job) ? callOutside(fn) : fn();
      adders.delete(job);
      return adder.call(fn);
    },
  }),
};

/** A queue may be started by what needs it first. */
export const beeQueue = carrier('bee-queue', /^lib\/queue\.js$/, [
  'this._doStalledJobCheck().then(jobTick)',
  '$channel.outside(() => $match)',
]);

export const bull = carrier('bull', /^lib\/queue\.js$/, [
  'this.run(concurrency, name)',
  '$channel.outside(() => $match)',
]);

/** By what a logger hands on: who has logged it. It is no property, for some formats print all there are. */
const loggers = new WeakMap<object, Caller>();

/** A transport writes a line when it has written others. */
export const winstonTransport: Injection = {
  files: [
    {
      package: 'winston',
      path: /^lib\/winston\/create-logger\.js$/,
      texts: texts('winston-transport', [
        [
          'class DerivedLogger extends Logger {',
          '$match write(line, ...rest) { $channel.logged(line); return super.write(line, ...rest); } _transform(line, ...rest) { return $channel.asLogger(line, () => super._transform(line, ...rest)); } push(line, ...rest) { $channel.logged(line); return super.push(line, ...rest); }',
        ],
      ]),
    },
    {
      package: 'winston-transport',
      path: /^(?:index|modern)\.js$/,
      texts: texts('winston-transport', [
        ['this.log(info, callback)', '$channel.asLogger(info, () => $match)'],
        ['this.log(transformed, callback)', '$channel.asLogger(info, () => $match)'],
        [
          'this.log(chunks[i].chunk, chunks[i].callback)',
          '$channel.asLogger(chunks[i].chunk, () => $match)',
        ],
        [
          'this.log(transformed, chunks[i].callback)',
          '$channel.asLogger(chunks[i].chunk, () => $match)',
        ],
      ]),
    },
  ],
  calls: () => ({
    logged(line: unknown) {
      if (isObject(line)) loggers.set(line, new Caller());
    },
    asLogger(line: object, write: () => unknown): unknown {
      const logger = loggers.get(line);
      return logger === undefined ? write() : logger.call(write);
    },
  }),
};
