// Runs the hook with programs that use OpenTelemetry's API, SDK and instrumentations, of exact versions,
// which npm installs into build/open-telemetry. PostgreSQL and Redis of this machine must answer.
//
//   npm run test:open-telemetry

import { testWithPackages } from './test-with-packages.mjs';

const packages = {
  '@fastify/otel': '0.21.2',
  '@opentelemetry/api': '1.9.1',
  '@opentelemetry/auto-instrumentations-node': '0.81.2',
  '@opentelemetry/context-async-hooks': '2.12.0',
  '@opentelemetry/instrumentation': '0.223.0',
  '@opentelemetry/instrumentation-express': '0.71.1',
  '@opentelemetry/instrumentation-http': '0.223.0',
  '@opentelemetry/instrumentation-ioredis': '0.71.0',
  '@opentelemetry/instrumentation-pg': '0.76.0',
  '@opentelemetry/sdk-node': '0.223.0',
  '@opentelemetry/sdk-trace-base': '2.12.1',
  '@opentelemetry/sdk-trace-node': '2.12.0',
  '@ai-sdk/openai-compatible': '3.0.92',
  '@ai-sdk/otel': '1.0.173',
  '@opentelemetry/instrumentation-undici': '0.33.0',
  '@prisma/adapter-pg': '7.10.0',
  '@prisma/client': '7.10.0',
  '@prisma/instrumentation': '7.10.0',
  '@sentry/node': '10.78.0',
  '@vercel/otel': '2.1.3',
  ai: '7.0.173',
  'ai-6': 'npm:ai@6.0.324',
  'openai-compatible-2': 'npm:@ai-sdk/openai-compatible@2.0.91',
  'api-1.0': 'npm:@opentelemetry/api@1.0.0',
  'api-1.10': 'npm:@opentelemetry/api@1.10.0',
  bullmq: '6.7.0',
  'bullmq-otel': '2.0.1',
  'dd-trace': '5.132.0',
  'elastic-apm-node': '4.18.0',
  express: '5.3.0',
  fastify: '5.12.8',
  // Publishes nothing on channels.
  'express-5.1': 'npm:express@5.1.0',
  ioredis: '5.8.2',
  newrelic: '13.20.0',
  next: '16.4.6',
  pg: '8.23.1',
  prisma: '7.10.0',
  react: '19.2.0',
  'react-dom': '19.2.0',
};

testWithPackages({
  packages,
  directory: 'open-telemetry',
  tests: 'test/node/open-telemetry',
  variable: 'TRACEWRIGHT_TEST_OPEN_TELEMETRY',
});
