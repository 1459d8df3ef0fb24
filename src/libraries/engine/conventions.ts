/** Names of OpenTelemetry's semantic conventions for what libraries do. The one place of them. */
export const DB_SYSTEM = 'db.system.name';
export const DB_OPERATION = 'db.operation.name';
export const DB_BATCH_SIZE = 'db.operation.batch.size';
export const DB_NAMESPACE = 'db.namespace';
export const DB_COLLECTION = 'db.collection.name';
export const DB_SUMMARY = 'db.query.summary';
export const DB_TEXT = 'db.query.text';
export const DB_STATUS = 'db.response.status_code';
export const ADDRESS = 'server.address';
export const PORT = 'server.port';
export const MESSAGING_SYSTEM = 'messaging.system';
export const MESSAGING_OPERATION = 'messaging.operation.name';
export const MESSAGING_TYPE = 'messaging.operation.type';
export const MESSAGING_DESTINATION = 'messaging.destination.name';
export const MESSAGING_BATCH_SIZE = 'messaging.batch.message_count';
export const MESSAGING_ROUTING_KEY = 'messaging.rabbitmq.destination.routing_key';
export const MESSAGING_PARTITION = 'messaging.destination.partition.id';
export const MESSAGING_GROUP = 'messaging.consumer.group.name';
export const MESSAGING_KAFKA_OFFSET = 'messaging.kafka.offset';
export const GRAPHQL_TYPE = 'graphql.operation.type';
export const GRAPHQL_NAME = 'graphql.operation.name';
export const ERROR_TYPE = 'error.type';
export const FUNCTION = 'code.function.name';

/** The value of `error.type` of an error without a code and a class. */
export const OTHER = '_OTHER';
