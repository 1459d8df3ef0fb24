import * as names from './engine/conventions.js';
import { number, requiredObject, requiredText, text } from './engine/payload.js';
import type { Library, Operation } from './library.js';
import { grpcMethod, grpcStatus, noteRecordedGrpc } from './shared-grpc.js';

/** The message of an injected channel when a call starts. */
interface Call {
  definition?: { path?: unknown };
  channel?: { getTarget?: () => unknown };
  metadata?: unknown;
  /** At its end. */
  status?: { code?: unknown };
}

interface Metadata {
  clone(): Metadata;
  get(name: string): unknown[];
  set(name: string, value: string): void;
  remove(name: string): void;
}

/** The details of a status that `cancel` of a call makes. */
const CANCELLED_HERE = 'Cancelled on client';

/** Host and port of a target such as `dns:localhost:50051`. */
function serverOf(target: unknown): { host: string | undefined; port: number | undefined } {
  const [, host, port] =
    /^(?:[a-z][\w+.-]*:(?:\/\/[^/]*\/)?)?(\[[^\]]+\]|[^:/]+)(?::(\d+))?$/i.exec(
      text(target) ?? '',
    ) ?? [];
  return { host, port: number(port === undefined ? undefined : Number(port)) };
}

/** Whether the program has cancelled a call: the client says so, and a server cannot. */
function isGivenUp(error: unknown): boolean {
  const { code, details } = (error ?? {}) as { code?: unknown; details?: unknown };
  return grpcStatus(code) === 'CANCELLED' && details === CANCELLED_HERE;
}

const call: Operation<Call> = {
  channel: 'orchestrion:@grpc/grpc-js:call',
  kind: 'client',
  callsBack: true,
  notice: noteRecordedGrpc,
  describe({ definition, channel }) {
    const method = grpcMethod(requiredText(definition?.path, 'path'));
    const { host, port } = serverOf(channel?.getTarget?.());
    return {
      name: method,
      attributes: {
        'rpc.system.name': 'grpc',
        'rpc.method': method,
        'server.address': host,
        'server.port': port,
      },
    };
  },
  carry(message, send) {
    // The program may use its own again.
    const metadata = (requiredObject(message.metadata, 'metadata') as Metadata).clone();
    send({
      get(name: string) {
        const values = metadata.get(name);
        return values.length === 0 ? undefined : values;
      },
      set(name: string, value: string) {
        metadata.set(name, value);
      },
      delete(name: string) {
        metadata.remove(name);
      },
    });
    message.metadata = metadata;
  },
  finish(span, { status }) {
    span.set(names.RPC_STATUS, grpcStatus(status?.code));
  },
  isControlFlow: isGivenUp,
  failure: (error) => ({
    type: grpcStatus((error as { code?: unknown } | null)?.code) ?? names.OTHER,
  }),
};

/** Clients of `@grpc/grpc-js`, into which the channel is injected. */
export const grpc: Library = { name: 'grpc', operations: [call] };
