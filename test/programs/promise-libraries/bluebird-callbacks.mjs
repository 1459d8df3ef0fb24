// Functions with callbacks, made to return promises, coroutines and timeouts of bluebird.
import Promise from 'bluebird';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own caught 1
  own coroutine 1
  own delayed 1
  own node 1
  own spread 1
  own timeout 1
own request 2
  own caught 2
  own coroutine 2
  own delayed 2
  own node 2
  own spread 2
  own timeout 2
`;
export const difference =
  'OpenTelemetry has callbacks of both requests below one of them. Each belongs to its own.';

const waiting = [];
const load = Promise.promisify((n, done) => waiting.push(() => done(null, n)));

const inTurn = Promise.coroutine(function* inTurn(n) {
  yield Promise.resolve();
  own(`coroutine ${n}`);
});

export async function run() {
  const request = (n) =>
    own(`request ${n}`, () =>
      load(n)
        .then(() => own(`node ${n}`))
        .then(() => inTurn(n))
        .then(() => [n])
        .spread(() => own(`spread ${n}`))
        .then(() => Promise.reject(new RangeError()))
        .catch(RangeError, () => own(`caught ${n}`))
        .delay(1)
        .then(() => own(`delayed ${n}`))
        .then(() => new Promise(() => {}).timeout(1))
        .catch(Promise.TimeoutError, () => own(`timeout ${n}`)),
    );
  const requests = [request(1), request(2)];
  setImmediate(() => {
    for (const settle of waiting) settle();
  });
  await requests[0];
  await requests[1];
}
