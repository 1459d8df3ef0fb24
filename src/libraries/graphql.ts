import type { Attributes } from './engine/attribute-names.js';
import * as names from './engine/conventions.js';
import { failureOf } from './engine/failure.js';
import { text } from './engine/payload.js';
import type { Failure, Library, Operation } from './library.js';

/** Its document, its variables and its result are never read, but for the codes of errors. */
interface Execution {
  operationType?: unknown;
  operationName?: unknown;
  result?: unknown;
}

interface Resolution {
  parentType?: unknown;
  fieldName?: unknown;
  isDefaultResolver?: unknown;
}

/** The first error of a result, or of a list of errors. */
function errorIn(result: unknown): unknown {
  const errors: unknown = Array.isArray(result)
    ? result
    : (result as { errors?: unknown } | null | undefined)?.errors;
  return Array.isArray(errors) ? (errors[0] as unknown) : undefined;
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

/** There may be thousands of resolvers in a request, so they are recorded on request only. */
export const graphqlResolve: Library = { name: 'graphql', operations: [resolve] };
