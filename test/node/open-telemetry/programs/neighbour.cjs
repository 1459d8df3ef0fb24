// Starts the agent that TRACEWRIGHT_TEST_AGENT names. It has nowhere to send to. `theirSpans` has what it has
// recorded: the trace, the span, its parent, the kind and the path.
const NOWHERE = 'http://127.0.0.1:9';

const found = [];
const pathOf = (text) => /\/(?:inner-\w+|outer)/.exec(String(text))?.[0];
const add = (trace, id, parent, isServer, text) =>
  found.push({ trace, id, parent, kind: isServer ? 'server' : 'client', path: pathOf(text) });
globalThis.theirSpans = async () => found;

const agents = {
  sentry() {
    const { init, flush } = require('@sentry/node');
    init({
      dsn: 'http://key@127.0.0.1:9/4',
      tracesSampleRate: 1,
      beforeSendTransaction({ transaction, contexts, spans }) {
        const { trace_id: trace, span_id: id, parent_span_id: parent } = contexts.trace;
        add(trace, id, parent, true, transaction);
        for (const span of spans) {
          const { span_id, parent_span_id, op, description } = span;
          add(span.trace_id, span_id, parent_span_id, op === 'http.server', description);
        }
        return null;
      },
    });
    globalThis.theirSpans = async () => {
      await flush(5000);
      return found;
    };
  },
  elastic() {
    const agent = require('elastic-apm-node').start({
      serverUrl: NOWHERE,
      logLevel: 'off',
      centralConfig: false,
      cloudProvider: 'none',
      metricsInterval: '0s',
      spanCompressionEnabled: false,
    });
    agent.addTransactionFilter((each) => {
      add(each.trace_id, each.id, each.parent_id, true, each.context?.request?.url?.pathname);
      return each;
    });
    agent.addSpanFilter((each) => {
      add(each.trace_id, each.id, each.parent_id, false, each.context?.http?.url);
      return each;
    });
  },
  datadog() {
    // It prints what it would send.
    require('dd-trace').init({ startupLogs: false, experimental: { exporter: 'log' } });
    const { write } = process.stdout;
    process.stdout.write = function (text, ...further) {
      if (!String(text).startsWith('{"traces":')) return write.call(this, text, ...further);
      for (const span of JSON.parse(text).traces.flat()) {
        const isServer = span.meta['span.kind'] === 'server';
        add(span.trace_id, span.span_id, span.parent_id, isServer, span.meta['http.url']);
      }
      return true;
    };
  },
  newrelic() {
    Object.assign(process.env, {
      NEW_RELIC_APP_NAME: 'service',
      NEW_RELIC_LICENSE_KEY: '0'.repeat(40),
      NEW_RELIC_LOG_ENABLED: 'false',
      NEW_RELIC_NO_CONFIG_FILE: '1',
      // It records without a connection.
      NEW_RELIC_SERVERLESS_MODE_ENABLED: 'true',
      NEW_RELIC_ACCOUNT_ID: '1',
      NEW_RELIC_TRUSTED_ACCOUNT_KEY: '1',
      NEW_RELIC_PRIMARY_APPLICATION_ID: '1',
    });
    const { agent } = require('newrelic');
    globalThis.theirSpans = async () => {
      for (const { intrinsics, attributes } of agent.spanEventAggregator.getEvents()) {
        const { traceId, guid, parentId } = intrinsics;
        const url = attributes['http.url'] ?? attributes['request.uri'];
        add(traceId, guid, parentId, intrinsics['nr.entryPoint'] === true, url ?? intrinsics.name);
      }
      return found;
    };
  },
  opentelemetry() {
    const { NodeSDK } = require('@opentelemetry/sdk-node');
    const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
    const { UndiciInstrumentation } = require('@opentelemetry/instrumentation-undici');
    const { InMemorySpanExporter, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-base');
    const exporter = new InMemorySpanExporter();
    new NodeSDK({
      spanProcessors: [new SimpleSpanProcessor(exporter)],
      instrumentations: [new HttpInstrumentation(), new UndiciInstrumentation()],
    }).start();
    globalThis.theirSpans = async () => {
      for (const span of exporter.getFinishedSpans()) {
        const { traceId, spanId } = span.spanContext();
        const { attributes } = span;
        const url = attributes['url.path'] ?? attributes['url.full'] ?? attributes['http.target'];
        const isServer = span.kind === 1;
        add(
          traceId,
          spanId,
          span.parentSpanContext?.spanId,
          isServer,
          url ?? attributes['http.url'],
        );
      }
      return found;
    };
  },
};

agents[process.env.TRACEWRIGHT_TEST_AGENT]();
