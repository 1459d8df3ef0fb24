import { BoundedCache } from '../../core/bounded-cache.js';
import { KIND_SHIFT } from '../../spans/layout.js';
import type { Scope } from '../../spans/scope.js';
import { SpanTemplate } from '../../spans/write/span-template.js';
import type { Description, LibraryOptions } from '../library.js';

/** What a client says of its server: the database, the host or the path of a socket, and the port. */
export interface Server {
  database?: unknown;
  serverAddress?: unknown;
  serverPort?: unknown;
}

/** Makes the description of what is asked by a text, a statement or the name of a command. */
type Describe = (text: string, server: Server, options: LibraryOptions) => Description;

/** The description that was last given for a text, and for which server. */
class Kept implements Server {
  database: unknown = undefined;
  serverAddress: unknown = undefined;
  serverPort: unknown = undefined;
  description: Description | undefined = undefined;
}

/** Texts of a program that are kept, and how long they may be. */
const KEPT = 256;
const MAX_KEPT_LENGTH = 1024;

/** A description that was given so often is encoded once for all of its spans. */
const OFTEN = 50;

/**
 * What the spans of a description begin with; undefined: it has not been given often.
 *
 * @param kind its number in the layout.
 */
export function templateOf(
  description: Description,
  scope: Scope,
  kind: number,
): SpanTemplate | undefined {
  const { kept } = description;
  if (kept === undefined) return undefined;
  if (kept.template === undefined && ++kept.times === OFTEN) {
    kept.template = newTemplate(description, scope, kind);
  }
  return kept.template;
}

/** Apart from its caller: a function with a closure allocates for it each time, even if it makes none. */
function newTemplate({ name, attributes }: Description, scope: Scope, kind: number): SpanTemplate {
  return new SpanTemplate(scope, name, kind << KIND_SHIFT, () => ({ ...attributes }), false);
}

/** Descriptions of what a library asks its server: the same one each time, as long as a text goes to one server. */
export class KeptDescriptions {
  readonly #kept = new BoundedCache(KEPT, MAX_KEPT_LENGTH, () => new Kept());
  readonly #describe: Describe;

  constructor(describe: Describe) {
    this.#describe = describe;
  }

  of(
    text: string,
    database: unknown,
    serverAddress: unknown,
    serverPort: unknown,
    options: LibraryOptions,
  ): Description {
    const kept = this.#kept.of(text);
    if (
      kept.description !== undefined &&
      kept.database === database &&
      kept.serverAddress === serverAddress &&
      kept.serverPort === serverPort
    ) {
      return kept.description;
    }
    kept.database = database;
    kept.serverAddress = serverAddress;
    kept.serverPort = serverPort;
    const description = this.#describe(text, kept, options);
    description.kept = { times: 0, template: undefined };
    kept.description = description;
    return description;
  }
}
