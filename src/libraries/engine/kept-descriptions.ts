import { BoundedCache } from '../../core/bounded-cache.js';
import type { Scope } from '../../spans/scope.js';
import { spans } from '../../spans/shared-spans.js';
import { Prefix } from '../../spans/slot/prefix.js';
import type { Description, LibraryOptions } from '../library.js';
import type { Attributes } from './attribute-names.js';

/** A client's view of its server: the database, the host or the path of a socket, and the port. */
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

/**
 * The template of the spans of a description: with all of it, if it is given again and again.
 *
 * @param kind in the bits of the flags.
 */
export function prefixOf(
  { kept, name, attributes }: Description,
  scope: Scope,
  kind: number,
): Prefix {
  if (kept === undefined) return spans.prefixOf(name, scope, kind);
  return (kept.prefix ??= newPrefix(name, attributes, scope, kind));
}

/** Apart from its caller: a function with a closure allocates for it each time, even if it makes none. */
function newPrefix(name: string, attributes: Attributes, scope: Scope, kind: number): Prefix {
  return new Prefix(scope, name, kind, () => ({ ...attributes }));
}

/** Descriptions of what a library asks its server: the same one each time, as long as a text goes to one server. */
export class KeptDescriptions {
  readonly #kept = new BoundedCache(
    KEPT,
    MAX_KEPT_LENGTH,
    () => new Kept(),
    ({ description }) => {
      description?.kept?.prefix?.release();
    },
  );
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
    kept.description?.kept?.prefix?.release();
    description.kept = { prefix: undefined };
    kept.description = description;
    return description;
  }
}
