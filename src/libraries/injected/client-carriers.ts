import { calls, carrier, texts } from './carrier.js';
import type { Injection } from './injected-file.js';

/** Clients of servers, processes and threads: an answer comes by a connection, which others have opened. */

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

/** One connection serves all requests, also after the one that opened it; a message comes to the callback of its subscription. */
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

/** A command waits for those before it. */
export const imap: Injection = {
  files: ['imap', 'node-imap'].map((name) => ({
    package: name,
    path: /^lib\/Connection\.js$/,
    texts: texts(name, [
      ['cb: cb,', 'cb: $channel.bound(cb),'],
      [/req\.bodyEmitter = new EventEmitter\(\)/, '$channel.emits($match)'],
    ]),
  })),
  calls,
};

export const netSnmp = carrier('net-snmp', /^index\.js$/, [
  'this.responseCb = responseCb;',
  'this.responseCb = $channel.bound(responseCb);',
]);

/** What is asked before there is a connection is called when that is made. */
export const loopback: Injection = {
  files: [
    {
      package: 'loopback-datasource-juggler',
      path: /^lib\/datasource\.js$/,
      texts: texts('loopback', [
        [
          "this.once('connected', onConnected);",
          'onConnected = $channel.bound(onConnected); onError = $channel.bound(onError); $match',
        ],
      ]),
    },
    {
      package: 'loopback-connector',
      path: /^lib\/sql\.js$/,
      texts: texts('loopback', [
        [
          /\bfunction ?\(\) \{\s+self\.execute\(sql, params, options, callback\);\s+\}/,
          '$channel.bound($match)',
        ],
      ]),
    },
  ],
  calls,
};

export const memjs = carrier(
  'memjs',
  /^lib\/memjs\/server\.js$/,
  ...['onResponse', 'onError'].map(
    (name) =>
      [
        `Server.prototype.${name} = function(seq, func) {`,
        '$match func = $channel.bound(func);',
      ] as const,
  ),
);

/** Channels of one connection. */
export const ssh2 = carrier(
  'ssh2',
  /^lib\/client\.js$/,
  [
    /const wrapper = \(err, stream\) => \{(?=\s+cb\(err, stream\);)/,
    'cb = $channel.opens(cb); $match',
  ],
  ['channel._callbacks.shift()(false)', '$channel.as(channel, () => $match)'],
  ['channel._callbacks.shift()(true)', '$channel.as(channel, () => $match)'],
);

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
