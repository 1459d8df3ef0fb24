/** The options of a connection of mysql and of mysql2. */
export interface Config {
  database?: unknown;
  host?: unknown;
  port?: unknown;
  socketPath?: unknown;
}

/** The server in the fields of mysql2's own messages. */
type ServerFields = Record<'database' | 'serverAddress' | 'serverPort', unknown>;

/** The server as messages have it: by its socket's path, or by name and port. */
export function serverOf({ database = '', host, port, socketPath }: Config): ServerFields {
  if (typeof socketPath === 'string' && socketPath !== '') {
    return { database, serverAddress: socketPath, serverPort: undefined };
  }
  return { database, serverAddress: host, serverPort: port };
}
