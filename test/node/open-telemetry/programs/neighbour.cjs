// Starts the agent that TRACEWRIGHT_TEST_AGENT names. It has nowhere to send to.
const NOWHERE = 'http://127.0.0.1:9';

const agents = {
  sentry() {
    require('@sentry/node').init({ dsn: 'http://key@127.0.0.1:9/4', tracesSampleRate: 1 });
  },
  elastic() {
    require('elastic-apm-node').start({
      serverUrl: NOWHERE,
      logLevel: 'off',
      centralConfig: false,
      cloudProvider: 'none',
      metricsInterval: '0s',
    });
  },
  datadog() {
    require('dd-trace').init({ startupLogs: false, url: NOWHERE });
  },
  newrelic() {
    Object.assign(process.env, {
      NEW_RELIC_APP_NAME: 'service',
      NEW_RELIC_HOST: '127.0.0.1',
      NEW_RELIC_LICENSE_KEY: '0'.repeat(40),
      NEW_RELIC_LOG_ENABLED: 'false',
      NEW_RELIC_NO_CONFIG_FILE: '1',
    });
    require('newrelic');
  },
  opentelemetry() {
    const { NodeSDK } = require('@opentelemetry/sdk-node');
    const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
    const { UndiciInstrumentation } = require('@opentelemetry/instrumentation-undici');
    const { InMemorySpanExporter } = require('@opentelemetry/sdk-trace-base');
    new NodeSDK({
      traceExporter: new InMemorySpanExporter(),
      instrumentations: [new HttpInstrumentation(), new UndiciInstrumentation()],
    }).start();
  },
};

agents[process.env.TRACEWRIGHT_TEST_AGENT]();
