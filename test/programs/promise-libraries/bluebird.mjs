// github.com/newrelic/node-newrelic/issues/1537: all callbacks that are due run where the first promise was settled.
import Promise from 'bluebird';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own each 1
  own finally 1
  own mapped 1
  own then 1
own request 2
  own each 2
  own finally 2
  own mapped 2
  own then 2
`;
export const difference =
  'OpenTelemetry has callbacks of both requests below the one whose promise was settled first. Each belongs to its own.';

export async function run() {
  const settled = [];
  const request = (n) =>
    own(`request ${n}`, () =>
      new Promise((resolve) => settled.push(resolve))
        .then(() => own(`then ${n}`))
        .then(() => Promise.map([n], () => own(`mapped ${n}`)))
        .finally(() => own(`finally ${n}`))
        .then(() => Promise.each([n], () => own(`each ${n}`))),
    );
  const requests = [request(1), request(2)];
  for (const settle of settled) settle();
  await requests[0];
  await requests[1];
}
