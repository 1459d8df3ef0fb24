// The same with the package `nats`, which is version 2.
import { connect } from 'nats';
import { useClient } from './callbacks.mjs';

export const needs = ['nats'];
export const expected = `
own message 1
server GET (no route) 200
  own answered 1
  own message 1
server GET (no route) 200
  own answered 2
  own message 2
`;
export const difference =
  'OpenTelemetry has what the client calls back below the request that opened it, for ever.';

export async function run() {
  await useClient(connect, `tracewright.nats2.${process.pid}`);
}
