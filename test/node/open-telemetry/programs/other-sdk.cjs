// Starts an SDK of its own at once, or within an async main. A second copy of the API has a tracer from before.

const { trace } = require('@opentelemetry/api');
const old = require('api-1.0');

async function main() {
  const early = trace.getTracer('early');
  const ofOld = old.trace.getTracer('old');
  const { exported, start, when } = require('./sdk-of-program.cjs');
  if (when === 'after') start();
  await new Promise((resolve) => setTimeout(resolve, 10));
  if (when === 'async') start();
  const pg = require('pg');
  const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'postgres' });
  await client.connect();
  await early.startActiveSpan('outer', async (outer) => {
    await client.query('SELECT 1');
    const inner = ofOld.startSpan('of the old copy');
    const { traceId } = outer.spanContext();
    if (inner.spanContext().traceId !== traceId) throw new Error('another trace');
    inner.end();
    outer.end();
  });
  await client.end();
  console.log(`theirs ${JSON.stringify(exported)}`);
}

main();
