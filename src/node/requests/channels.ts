import * as diagnostics from 'node:diagnostics_channel';

type Observer = (message: unknown) => void;

/** A message that has come before what observes it was loaded, and the observers that are to get it. */
interface FirstMessage {
  readonly channel: string;
  readonly observers: Observer[];
}

let first: FirstMessage | undefined;

/** Subscribes to a diagnostics channel: also to the message for which {@link onFirstMessage} calls `begin`. */
export function subscribe(channel: string, observer: Observer): void {
  diagnostics.subscribe(channel, observer);
  if (first?.channel === channel) first.observers.push(observer);
}

/**
 * Calls `begin` with the first message on one of the channels, once. What `begin` subscribes gets that
 * message too. Until then nothing is loaded: most processes of a build or a shell serve no request.
 */
export function onFirstMessage(
  channels: readonly string[],
  begin: (channel: string, message: unknown) => void,
): void {
  const arrive = (message: unknown, name: string | symbol): void => {
    for (const each of channels) diagnostics.unsubscribe(each, arrive);
    const channel = String(name);
    const found: FirstMessage = { channel, observers: [] };
    first = found;
    try {
      begin(channel, message);
    } finally {
      first = undefined;
    }
    for (const observer of found.observers) observer(message);
  };
  for (const each of channels) diagnostics.subscribe(each, arrive);
}
