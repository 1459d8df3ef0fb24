import type { Span } from '../spans/span.js';
import * as names from './engine/conventions.js';
import { failureOf } from './engine/failure.js';
import { number, requiredObject, requiredText, text } from './engine/payload.js';
import type { Failure, Library, Operation } from './library.js';

/** The message of an injected channel for a call of `executeOperation`. */
interface Call {
  arguments?: unknown;
}

interface Host {
  host?: unknown;
  port?: unknown;
}

interface Client {
  options?: { hosts?: unknown };
}

interface Execution {
  commandName?: unknown;
  ns?: { db?: unknown; collection?: unknown };
  /** The one that was chosen. */
  server?: { description?: { hostAddress?: Host } };
}

function argumentsOf(call: Call): readonly unknown[] {
  return requiredObject(call.arguments, 'arguments') as readonly unknown[];
}

/** The host that the program has named, if it is one. */
function hostOf(client: unknown): Host {
  const hosts = (client as Client | null)?.options?.hosts;
  return Array.isArray(hosts) && hosts.length === 1 ? (hosts[0] as Host) : {};
}

/** Operations that the driver begins by itself. */
const OWN = new Set(['endSessions']);
/** Before 6.7 the classes of operations alone say what they do: `InsertOneOperation`. */
const OPERATION_CLASS = /^([A-Z][a-z]+)(\w*?)Operation$/;
const MODIFIES = /^FindOneAnd/;

/** The command of the server. */
function commandOf(operation: Execution): string {
  const { commandName } = operation;
  if (commandName !== undefined) return requiredText(commandName, 'commandName');
  const { name } = operation.constructor;
  const [, verb, rest = ''] = OPERATION_CLASS.exec(name) ?? [];
  const first = requiredText(verb, 'commandName');
  if (MODIFIES.test(name)) return 'findAndModify';
  if (verb === 'Replace') return 'update';
  if (name === 'CountDocumentsOperation') return 'aggregate';
  return first.toLowerCase() + (rest === 'One' || rest === 'Many' ? '' : rest);
}

const COMMAND = /^[A-Za-z]{1,32}$/;

/** An error of the server has a number as its code. */
function failure(error: unknown): Failure {
  const code = number((error as { code?: unknown } | null)?.code);
  return code === undefined ? failureOf(error) : { type: String(code), status: String(code) };
}

/** An operation of the program, with the attempts that the driver makes. */
const operation: Operation<Call> = {
  channel: 'orchestrion:mongodb:operation',
  kind: 'client',
  describe(call) {
    const [client, given] = argumentsOf(call);
    const execution = requiredObject(given, 'operation') as Execution;
    const { ns } = execution;
    const command = commandOf(execution);
    if (OWN.has(command)) return undefined;
    const name = COMMAND.test(command) ? command : 'OTHER';
    // `$cmd` says that it concerns no collection.
    const target = text(ns?.collection);
    const collection = target?.startsWith('$') === true ? undefined : target;
    const { host, port } = hostOf(client);
    return {
      name: `${name} ${collection ?? ''}`.trimEnd(),
      attributes: {
        'db.system.name': 'mongodb',
        'db.namespace': text(ns?.db),
        'db.collection.name': collection,
        'db.operation.name': name,
        'server.address': text(host),
        'server.port': number(port),
      },
    };
  },
  finish(span: Span, call) {
    const [client, given] = argumentsOf(call);
    if (hostOf(client).host !== undefined) return;
    const { host, port } = (given as Execution).server?.description?.hostAddress ?? {};
    span.set(names.ADDRESS, text(host));
    span.set(names.PORT, number(port));
  },
  failure,
};

/** `mongodb`, into which the channel is injected. */
export const mongodb: Library = { name: 'mongodb', operations: [operation] };
