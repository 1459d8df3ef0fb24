/**
 * Attributes of OpenTelemetry's semantic conventions, and their names in older versions. A reader that looks for
 * one of the names accepts the others. Values stay as they were recorded.
 */
const OLDER_NAMES: Readonly<Record<string, readonly string[]>> = {
  'http.request.method': ['http.method'],
  'http.response.status_code': ['http.status_code'],
  'http.request.body.size': ['http.request_content_length'],
  'http.response.body.size': ['http.response_content_length'],
  'http.request.resend_count': ['http.resend_count', 'http.retry_count'],
  'url.full': ['http.url'],
  // Older ones had the query too.
  'url.path': ['http.target'],
  'url.scheme': ['http.scheme'],
  'client.address': ['http.client_ip'],
  'user_agent.original': ['http.user_agent'],
  'server.address': ['net.peer.name', 'net.host.name', 'http.server_name'],
  'server.port': ['net.peer.port', 'net.host.port'],
  'network.peer.address': ['net.sock.peer.addr', 'net.peer.ip'],
  'network.peer.port': ['net.sock.peer.port'],
  'network.local.address': ['net.sock.host.addr', 'net.host.ip'],
  'network.local.port': ['net.sock.host.port'],
  'network.protocol.name': ['net.protocol.name', 'net.app.protocol.name'],
  'network.protocol.version': ['net.protocol.version', 'net.app.protocol.version', 'http.flavor'],
  'network.transport': ['net.transport'],
  'db.system.name': ['db.system'],
  'db.query.text': ['db.statement'],
  'db.operation.name': ['db.operation'],
  'db.namespace': ['db.name', 'db.redis.database_index'],
  'db.collection.name': ['db.sql.table', 'db.mongodb.collection', 'db.cassandra.table'],
  'messaging.operation.name': ['messaging.operation'],
  'messaging.operation.type': ['messaging.operation'],
  'messaging.destination.name': ['messaging.destination'],
  'messaging.destination.partition.id': [
    'messaging.kafka.destination.partition',
    'messaging.kafka.partition',
  ],
  'messaging.consumer.group.name': [
    'messaging.kafka.consumer.group',
    'messaging.kafka.consumer_group',
  ],
  'messaging.client.id': ['messaging.client_id', 'messaging.kafka.client_id'],
  'messaging.message.id': ['messaging.message_id'],
  'messaging.kafka.offset': ['messaging.kafka.message.offset'],
  'messaging.rabbitmq.destination.routing_key': ['messaging.rabbitmq.routing_key'],
  'rpc.system.name': ['rpc.system'],
  'gen_ai.provider.name': ['gen_ai.system'],
  'gen_ai.usage.input_tokens': ['gen_ai.usage.prompt_tokens'],
  'gen_ai.usage.output_tokens': ['gen_ai.usage.completion_tokens'],
  'code.function.name': ['code.function'],
};

const sameNames = new Map<string, string[]>();
for (const [name, older] of Object.entries(OLDER_NAMES)) {
  sameNames.set(name, [name, ...older]);
  for (const each of older) sameNames.set(each, [...(sameNames.get(each) ?? [each]), name]);
}

/** The names under which an attribute can be recorded: the given one first, then older or newer ones. */
export function sameAttribute(name: string): readonly string[] {
  return sameNames.get(name) ?? [name];
}

/**
 * The value of an attribute under its name, or an older one.
 *
 * @param valueOf the value of an attribute; undefined: it is absent.
 */
export function valueUnderAnyName<Value>(
  valueOf: (name: string) => Value | undefined,
  name: string,
): Value | undefined {
  for (const each of sameAttribute(name)) {
    const value = valueOf(each);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The text before a query or a fragment, which older names of paths and URLs had. */
export function withoutQuery(target: unknown): string | undefined {
  return typeof target === 'string' ? target.split(/[?#]/, 1)[0] : undefined;
}
