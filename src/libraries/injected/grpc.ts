import type { CallChannels } from '../engine/published-calls.js';
import type { Injection } from './injected-file.js';
import type { Fields } from './published-starts.js';

/** A call that its owner has yet to start. */
interface StartableCall {
  start: (metadata: unknown, listener: StatusListener | undefined) => unknown;
}

interface StatusListener {
  onReceiveMetadata?: (metadata: unknown) => void;
  onReceiveMessage?: (message: unknown) => void;
  onReceiveStatus?: (status: { code: number }) => void;
}

const OK = 0;

/** Publishes a call from its start to its status. */
function publishedGrpcCall(
  channels: CallChannels,
  call: StartableCall,
  fields: Fields,
): StartableCall {
  if (!channels.start.hasSubscribers) return call;
  const { start } = call;
  call.start = (metadata, listener) => {
    const message: Record<string, unknown> = { ...fields, metadata };
    const received = (listen: () => void): void => {
      channels.asyncStart.runStores(message, listen);
    };
    const published: Required<StatusListener> = {
      onReceiveMetadata(value) {
        received(() => listener?.onReceiveMetadata?.(value));
      },
      onReceiveMessage(value) {
        received(() => listener?.onReceiveMessage?.(value));
      },
      onReceiveStatus(status) {
        message['status'] = status;
        if (status.code !== OK) {
          message['error'] = status;
          channels.error.publish(message);
        }
        try {
          received(() => listener?.onReceiveStatus?.(status));
        } finally {
          channels.asyncEnd.publish(message);
        }
      },
    };
    return channels.start.runStores(message, () => {
      try {
        return start.call(call, message['metadata'], published);
      } catch (error) {
        message['error'] = error;
        channels.error.publish(message);
        throw error;
      } finally {
        channels.end.publish(message);
      }
    });
  };
  return call;
}

export const grpc: Injection = {
  files: [
    {
      package: '@grpc/grpc-js',
      path: /^build\/src\/client-interceptors\.js$/,
      texts: [
        {
          channel: 'orchestrion:@grpc/grpc-js:call',
          from: 'return getCall(interceptorOptions)',
          to: 'return $channel.started(getCall(interceptorOptions), { channel, definition: methodDefinition })',
        },
      ],
    },
  ],
  calls: (channels) => ({
    started: (call: StartableCall, fields: Fields) => publishedGrpcCall(channels, call, fields),
  }),
};
