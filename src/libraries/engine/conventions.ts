/** Names of OpenTelemetry's semantic conventions for what libraries do. No other file lists them. */
export const DB_OPERATION = 'db.operation.name';
export const DB_BATCH_SIZE = 'db.operation.batch.size';
export const DB_COLLECTION = 'db.collection.name';
export const DB_SUMMARY = 'db.query.summary';
export const DB_TEXT = 'db.query.text';
export const DB_STATUS = 'db.response.status_code';
export const DB_PROCEDURE = 'db.stored_procedure.name';
export const ADDRESS = 'server.address';
export const PORT = 'server.port';
export const PEER_ADDRESS = 'network.peer.address';
export const PEER_PORT = 'network.peer.port';
export const TRANSPORT = 'network.transport';
export const EXECUTABLE = 'process.executable.name';
export const PROCESS_ID = 'process.pid';
export const EXIT_CODE = 'process.exit.code';
export const MESSAGING_DESTINATION = 'messaging.destination.name';
export const MESSAGING_BATCH_SIZE = 'messaging.batch.message_count';
export const MESSAGING_PARTITION = 'messaging.destination.partition.id';
export const MESSAGING_KAFKA_OFFSET = 'messaging.kafka.offset';
export const RPC_STATUS = 'rpc.response.status_code';
export const GEN_AI_INPUT_TOKENS = 'gen_ai.usage.input_tokens';
export const GEN_AI_OUTPUT_TOKENS = 'gen_ai.usage.output_tokens';
export const ERROR_TYPE = 'error.type';
export const FUNCTION = 'code.function.name';

/** Those that only literals of attributes write out. */
export type LiteralName =
  | 'db.system.name'
  | 'db.namespace'
  | 'dns.question.name'
  | 'messaging.system'
  | 'messaging.operation.name'
  | 'messaging.operation.type'
  | 'messaging.rabbitmq.destination.routing_key'
  | 'messaging.consumer.group.name'
  | 'bullmq.job.name'
  | 'rpc.system.name'
  | 'rpc.method'
  | 'graphql.operation.type'
  | 'graphql.operation.name'
  | 'gen_ai.operation.name'
  | 'gen_ai.provider.name'
  | 'gen_ai.request.model'
  | 'gen_ai.tool.name';

/** The value of `error.type` of an error without a code and a class. */
export const OTHER = '_OTHER';
