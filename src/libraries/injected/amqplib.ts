import { boundCallback } from '../engine/callers.js';
import { openConnection } from '../engine/connection-context.js';
import { method } from './injected-file.js';
import type { ChangedText, Injection } from './injected-file.js';

/** A channel belongs to whoever has made it: its callbacks go on where the program called. */
const callback = (from: RegExp): ChangedText => ({
  channel: 'orchestrion:amqplib:publish',
  from,
  to: '$match cb = $channel.bound(cb);',
  isOptional: true,
});

const opened = (from: RegExp): ChangedText => ({
  channel: 'orchestrion:amqplib:publish',
  from,
  to: '$channel.opened(() => $match)',
  isOptional: true,
});

export const amqplib: Injection = {
  files: [
    {
      package: 'amqplib',
      path: /^lib\/channel\.js$/,
      methods: [
        method('orchestrion:amqplib:publish', 'Channel.prototype', 'sendMessage'),
        method('orchestrion:amqplib:process', 'BaseChannel.prototype', 'dispatchMessage'),
      ],
      texts: [callback(/\bpushConfirmCallback(?: = function)? ?\(cb\) \{/)],
    },
    {
      package: 'amqplib',
      path: /^lib\/callback_model\.js$/,
      texts: [callback(/\bfunction callbackWrapper\(\w+, cb\) \{/)],
    },
    {
      package: 'amqplib',
      path: /^lib\/connect\.js$/,
      texts: [
        {
          channel: 'orchestrion:amqplib:publish',
          from: /\bfunction connect\(url, socketOptions, openCallback\) \{/,
          to: '$match openCallback = $channel.bound(openCallback);',
          isOptional: true,
        },
        opened(/(?:\bnet|\brequire\('net'\))\.connect\(sockopts, onConnect\)/),
        opened(/(?:\btls|\brequire\('tls'\))\.connect\(sockopts, onConnect\)/),
      ],
    },
  ],
  calls: () => ({ bound: boundCallback, opened: openConnection }),
};
