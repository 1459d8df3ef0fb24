import { joinBatch, runBatch, runForAll } from '../engine/batch-callers.js';
import {
  asCaller,
  bindFunctions,
  boundCallback,
  Caller,
  callOutside,
  keepCaller,
  setCaller,
} from '../engine/callers.js';
import { openConnection } from '../engine/connection-context.js';
import { isObject } from '../engine/payload.js';
import type { AnyFunction } from '../engine/published-calls.js';
import { spans } from '../../spans/shared-spans.js';
import type { ChangedText, Injection } from './injected-file.js';

/** Libraries that record nothing: they call functions of the program elsewhere than where it asked for that. */

const calls = (): object => ({
  /** A function, called with what is active now. */
  bound: boundCallback,
  /** The active context. */
  caller: () => new Caller(),
  /** Keeps what is active with something that is asked for. */
  keep: keepCaller,
  /** Calls a function where that was asked for. */
  as: asCaller,
  /** Calls a function for all of these that were asked for. */
  all: runForAll,
  /** Calls a function for all of these, if there are any, else for nobody. */
  batch: (asked: readonly object[], fn: () => unknown) =>
    asked.length === 0 ? callOutside(fn) : runForAll(asked, fn),
  tasks: keepTasks,
  outside: callOutside,
  opened: openConnection,
  heard: heardCallback,
  /** Something that waits, with what is active now. */
  kept<Asked extends object>(asked: Asked): Asked {
    keepCaller(asked);
    return asked;
  },
  emits: (emitter: unknown) => {
    if (isObject(emitter)) bindFunctions(emitter, ['emit']);
  },
});

/** A callback of messages: it is called where the program subscribed as long as the span there is open, then nowhere. */
function heardCallback(callback: unknown): unknown {
  const context = spans.activeContext();
  if (typeof callback !== 'function' || context?.activeSpan === undefined) return callback;
  return function (this: unknown, ...message: unknown[]): unknown {
    const active = context.activeSpan?.recording === true ? context : undefined;
    return spans.applyIn(active, callback as AnyFunction, this, message);
  };
}

/** Changes that leave another version of the library as it is. */
function texts(
  name: string,
  changes: readonly (readonly [string | RegExp, string])[],
): ChangedText[] {
  const channel = `orchestrion:${name}:task`;
  return changes.map(([from, to]) => ({ channel, from, to, isOptional: true }));
}

function carrier(
  name: string,
  path: RegExp,
  ...changes: readonly (readonly [string | RegExp, string])[]
): Injection {
  return { files: [{ package: name, path, texts: texts(name, changes) }], calls };
}

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
  ['task: task,', 'task: $channel.bound(task),'],
  [
    'Promise.prototype.then = function (fulfilled, rejected, progressed) {',
    '$match fulfilled = $channel.bound(fulfilled); rejected = $channel.bound(rejected); progressed = $channel.bound(progressed);',
  ],
);

/** Its promises are its own. */
export const workerpool = carrier('workerpool', /^(?:src\/Promise|dist\/workerpool)\.js$/, [
  /\.then = function \(onSuccess, onFail\) \{/,
  '$match onSuccess = $channel.bound(onSuccess); onFail = $channel.bound(onFail);',
]);

/** The server's answer to one message comes with those to others. */
export const mqtt = carrier(
  'mqtt',
  /^(?:build\/)?lib\/client\.js$/,
  ...[
    'publish(topic, message, opts, callback) {',
    'subscribe(topicObject, opts, callback) {',
    'unsubscribe(topic, opts, callback) {',
  ].map(
    (method) =>
      [method, '$match opts = $channel.bound(opts); callback = $channel.bound(callback);'] as const,
  ),
);

interface Tasks {
  get(): object;
  release(task: object): void;
}

/** Objects of tasks, which the library uses again. */
function keepTasks(tasks: Tasks): Tasks {
  return {
    get() {
      const task = tasks.get();
      setCaller(task);
      return task;
    },
    release(task) {
      tasks.release(task);
    },
  };
}

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

/** A message of a pool waits for a connection, which others have opened. */
export const nodemailer = carrier(
  'nodemailer',
  /^(?:lib|dist\/(?:cjs|esm))\/smtp-pool\/index\.js$/,
  ['send(mail, callback) {', '$match $channel.keep(mail); callback = $channel.bound(callback);'],
  [
    'connection.send(entry.mail,',
    '((...all) => $channel.as(entry.mail, () => connection.send(...all)))(entry.mail,',
  ],
);

/** A task of a pool begins when another has ended. A worker answers where it was started. */
export const threads = carrier(
  'threads',
  /^dist\/master\/(?:pool|invocation-proxy)\.js$/,
  [/(?<=run: )taskFunction(?=,)/, '$channel.bound($match)'],
  [/(?<=const messageHandler = )\(\(event\) =>/, '$channel.bound((event) =>'],
);

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

/** What the server answers to a command is read where others have opened the connection or given it back. */
export const mariadb = carrier(
  'mariadb',
  /^lib\/(?:pool|cmd\/command|io\/packet-input-stream)\.js$/,
  ['this.cmdParam = cmdParam;', '$match $channel.keep(this);'],
  ...['Debug', 'Basic'].map(
    (name) =>
      [
        new RegExp(
          `cmd\\.onPacketReceive\\(packet, [^)]*\\)(?<=receivePacket${name}\\(packet\\) \\{(?:(?!receivePacket)[^])*)`,
        ),
        '$channel.as(cmd, () => $match)',
      ] as const,
  ),
  // Further packets of what has arrived.
  [/\bcmd\.onPacketReceive\(pkt\.update\([^)]*\), [^)]*\)/, '$channel.as(cmd, () => $match)'],
  [
    /this\._acquireIdleConnection\(\((?<=\bgetConnection\(cmdParam, callback\) \{(?:(?!\n {2}\})[^])*)/,
    'callback = $channel.bound(callback); $match',
  ],
);

/** A connection serves whoever needs it later. Its messages come to callbacks. */
export const nats: Injection = {
  files: [
    { package: 'nats', path: /^lib\/nats-base-client\/protocol\.js$/ },
    { package: '@nats-io/nats-core', path: /^lib\/protocol\.js$/ },
  ].map((file) => ({
    ...file,
    texts: texts('nats', [
      [
        '(0, util_1.extend)(this, opts);',
        '$match if (typeof opts.callback === "function") this.callback = $channel.heard(opts.callback);',
      ],
      ['this.dodialLoop()', '$channel.opened(() => $match)'],
    ]),
  })),
  calls,
};

/** What waits for room or a connection is sent where it was asked for. */
export const amqpConnectionManager = carrier(
  'amqp-connection-manager',
  /^dist\/(?:cjs|esm)\/ChannelWrapper\.js$/,
  [/this\._messages\.push\(message\)(?=;\s+\}\s+\/\*\*)/, '$channel.keep(message); $match'],
  ...['message.exchange, message.routingKey', 'message.queue'].flatMap((target) =>
    ['\\)', ', \\(err\\)'].map(
      (end) =>
        [
          new RegExp(
            `channel\\.(publish|sendToQueue)(?=\\(${target.replaceAll('.', '\\.')}, message\\.content, message\\.options${end})`,
          ),
          `((...all) => $channel.as(message, () => $match(...all)))`,
        ] as const,
    ),
  ),
);

/** An answer comes by the connection, which others have opened. */
export const ldapjs = carrier('ldapjs', /^lib\/client\/client\.js$/, [
  /Client\.prototype\._send = function _send \(message,\s+expect,\s+emitter,\s+callback,\s+_bypass\) \{/,
  '$match callback = $channel.bound(callback); $channel.emits(emitter);',
]);

export const memcached = carrier('memcached', /^lib\/memcached\.js$/, [
  'var query = queryCompiler();',
  '$match query.callback = $channel.bound(query.callback);',
]);

export const nestMicroservices = carrier('@nestjs/microservices', /^client\/client-proxy\.js$/, [
  'this.createObserver(observer)',
  '$channel.bound($match)',
]);

export const rhea = carrier('rhea', /^lib\/connection\.js$/, [
  'details.connect(details.port, details.host, details.options, this.connected.bind(this))',
  '$channel.opened(() => $match)',
]);

/** The library marks some functions. */
export const socketIoClient = carrier(
  'socket.io-client',
  /^(?:build\/(?:cjs|esm|esm-debug)|lib)\/socket\.js$/,
  [/\b_registerAckCallback\(id, ack\) \{/, '$match ack = Object.assign($channel.bound(ack), ack);'],
  [/(?<=\b(?:this|self)\.acks\[(?:this|self)\.ids\] = )args\.pop\(\)/, '$channel.bound($match)'],
);

export const workerFarm = carrier('worker-farm', /^lib\/farm\.js$/, [
  /(?<=callback\s*: )args\.pop\(\)/,
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
