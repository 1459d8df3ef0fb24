import type { Attributes } from './engine/attribute-names.js';
import { isAnswered, isCallersFault, statusOf } from './engine/answered-errors.js';
import * as names from './engine/conventions.js';
import { failureOf } from './engine/failure.js';
import { requiredObject, text } from './engine/payload.js';
import type { Failure, Library, Operation } from './library.js';

/** Its document, its variables and its result are never read, but for the codes of errors. */
interface Execution {
  operationType?: unknown;
  operationName?: unknown;
  result?: unknown;
}

/** The message of an injected channel for a call of graphql 15 or 16. */
interface Call {
  arguments?: unknown;
  result?: unknown;
}

/** Of a document: which operations it has. */
interface Definition {
  kind?: unknown;
  operation?: unknown;
  name?: { value?: unknown };
}

interface Resolution {
  parentType?: unknown;
  fieldName?: unknown;
  isDefaultResolver?: unknown;
}

/** The fields of an error of GraphQL. */
interface OwnError {
  name?: unknown;
  extensions?: { code?: unknown; http?: unknown };
  originalError?: unknown;
  path?: unknown;
}

/** Codes with which servers answer faults of the caller. */
const CALLERS_CODES: ReadonlySet<unknown> = new Set([
  'BAD_REQUEST',
  'BAD_USER_INPUT',
  'FORBIDDEN',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'UNAUTHENTICATED',
]);

/** Whether an error is an answer to a fault of the caller. */
function isOfCaller(error: unknown): boolean {
  const { name, extensions, originalError, path } = (error ?? {}) as OwnError;
  if (CALLERS_CODES.has(extensions?.code)) return true;
  if (isCallersFault(statusOf(extensions?.http, 'status'))) return true;
  if (originalError !== undefined && originalError !== null) return isAnswered(originalError);
  // Of no field: the document or its variables are wrong.
  return name === 'GraphQLError' && path === undefined && extensions?.code === undefined;
}

/** The first error of a result, or of a list of errors, that is no fault of the caller. */
function errorIn(result: unknown): unknown {
  const errors: unknown = Array.isArray(result)
    ? result
    : (result as { errors?: unknown } | null | undefined)?.errors;
  if (!Array.isArray(errors)) return undefined;
  return errors.find((error) => !isOfCaller(error));
}

/** An error of GraphQL has a code among its extensions, or another error that it stems from. */
function failure(error: unknown): Failure {
  const { extensions, originalError } = (error ?? {}) as {
    extensions?: { code?: unknown };
    originalError?: unknown;
  };
  const { type } = failureOf({ code: extensions?.code, name: '' });
  if (type !== names.OTHER) return { type };
  return failureOf(originalError ?? error);
}

function attributesOf({ operationType, operationName }: Execution): Attributes {
  return {
    'graphql.operation.type': text(operationType),
    'graphql.operation.name': text(operationName)?.slice(0, 128),
  };
}

/** Executing an operation: what its resolvers ask is below it. */
function execution(channel: string): Operation<Execution> {
  return {
    channel,
    kind: 'internal',
    nests: true,
    // Callers choose the name: there may be any number of them.
    describe: (message) => ({
      name: text(message.operationType) ?? 'GraphQL Operation',
      attributes: attributesOf(message),
    }),
    errorOf: ({ result }) => errorIn(result),
    isControlFlow: isOfCaller,
    failure,
  };
}

/** The operation that a call executes, which its document has. */
function executed(call: Call): Execution {
  const given = requiredObject(call.arguments, 'arguments') as readonly unknown[];
  const [only] = given as readonly [Record<string, unknown> | undefined];
  // Version 15 takes them one by one, too.
  const document: unknown = given.length > 1 ? given[1] : only?.['document'];
  const wanted: unknown = given.length > 1 ? given[5] : only?.['operationName'];
  const { definitions } = (document ?? {}) as { definitions?: unknown };
  const operations = (Array.isArray(definitions) ? (definitions as Definition[]) : []).filter(
    ({ kind, name }) =>
      kind === 'OperationDefinition' && (text(wanted) === undefined || name?.value === wanted),
  );
  // More than one without a name is an error of the caller.
  const found = operations.length === 1 ? operations[0] : undefined;
  return { operationType: found?.operation, operationName: found?.name?.value };
}

/** Executing an operation in a version without channels. */
function injectedExecution(channel: string): Operation<Call> {
  return {
    channel,
    kind: 'internal',
    nests: true,
    describe(call) {
      const execution = executed(call);
      return {
        name: text(execution.operationType) ?? 'GraphQL Operation',
        attributes: attributesOf(execution),
      };
    },
    errorOf: ({ result }) => errorIn(result),
    isControlFlow: isOfCaller,
    failure,
  };
}

/** Recorded where it takes long, or fails. */
function preparation(channel: string, name: string): Operation<Execution> {
  return {
    channel,
    kind: 'internal',
    atLeastMs: 1,
    describe: () => ({ name, attributes: {} }),
    errorOf: ({ result }) => errorIn(result),
    isControlFlow: isOfCaller,
    failure,
  };
}

/** A resolver of the program. */
const resolve: Operation<Resolution> = {
  channel: 'graphql:resolve',
  kind: 'internal',
  nests: true,
  describe: ({ parentType, fieldName, isDefaultResolver }) =>
    isDefaultResolver === true
      ? undefined
      : { name: `resolve ${text(parentType) ?? ''}.${text(fieldName) ?? ''}`, attributes: {} },
  // A resolver has thrown what becomes an error of GraphQL.
  isControlFlow: (error) => isOfCaller(error) || isAnswered(error),
  failure,
};

export const graphql: Library = {
  name: 'graphql',
  operations: [
    preparation('graphql:parse', 'graphql parse'),
    preparation('graphql:validate', 'graphql validate'),
    execution('graphql:execute'),
    execution('graphql:subscribe'),
  ],
};

/** Version 16 and earlier ones, into which the channels are injected. */
export const graphql16: Library = {
  name: 'graphql',
  operations: [
    injectedExecution('orchestrion:graphql:execute'),
    injectedExecution('orchestrion:graphql:subscribe'),
  ],
};

/** There may be thousands of resolvers in a request, so they are recorded on request only. */
export const graphqlResolve: Library = { name: 'graphql', operations: [resolve] };
