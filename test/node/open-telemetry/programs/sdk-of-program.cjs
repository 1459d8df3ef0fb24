// Starts an SDK, `node-sdk` or `vercel`, with an instrumentation of its own. As a preload it may start it at once.

const { PgInstrumentation } = require('@opentelemetry/instrumentation-pg');

const [kind, when] = process.env.TRACEWRIGHT_TEST_SDK.split(' ');
const exported = [];
const processor = {
  onStart() {},
  onEnd({ name, instrumentationScope }) {
    exported.push(`${instrumentationScope.name.replace(/.*-/, '')}: ${name}`);
  },
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

function start() {
  const instrumentations = [new PgInstrumentation()];
  if (kind === 'vercel') {
    const { registerOTel } = require('@vercel/otel');
    registerOTel({ serviceName: 'a', spanProcessors: [processor], instrumentations });
  } else {
    const { NodeSDK } = require('@opentelemetry/sdk-node');
    new NodeSDK({ spanProcessors: [processor], instrumentations, resourceDetectors: [] }).start();
  }
}

if (when === 'before') start();
module.exports = { exported, start, when };
