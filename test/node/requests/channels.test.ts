import { channel, hasSubscribers } from 'node:diagnostics_channel';
import { expect, it } from 'vitest';
import { onFirstMessage, subscribe } from '../../../src/node/requests/channels.js';

it('what the first message loads gets that message, once and in order', () => {
  const got: string[] = [];
  onFirstMessage(['a', 'b'], () => {
    got.push('loaded');
    subscribe('a', (message) => got.push(`a ${String(message)}`));
    subscribe('b', (message) => got.push(`b ${String(message)}`));
    subscribe('b', (message) => got.push(`also b ${String(message)}`));
  });
  expect(got).toEqual([]);
  channel('b').publish(1);
  expect(got).toEqual(['loaded', 'b 1', 'also b 1']);
  channel('a').publish(2);
  channel('b').publish(3);
  expect(got.slice(3)).toEqual(['a 2', 'b 3', 'also b 3']);
});

it('the first message is the last when nothing is subscribed', () => {
  let calls = 0;
  onFirstMessage(['c', 'd'], () => calls++);
  channel('d').publish(1);
  channel('c').publish(2);
  expect(calls).toBe(1);
  expect(hasSubscribers('c') || hasSubscribers('d')).toBe(false);
});
