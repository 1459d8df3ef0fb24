// Callbacks of promises that run together: of asap, es6-promise, lie, promise, rsvp and when.
import asap from 'asap';
import es6 from 'es6-promise';
import Lie from 'lie';
import ThenPromise from 'promise';
import RSVP from 'rsvp';
import when from 'when';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own asap 1
  own es6-promise 1
  own es6-promise later 1
  own lie 1
  own lie later 1
  own promise 1
  own promise later 1
  own rsvp 1
  own rsvp later 1
  own when 1
  own when later 1
own request 2
  own asap 2
  own es6-promise 2
  own es6-promise later 2
  own lie 2
  own lie later 2
  own promise 2
  own promise later 2
  own rsvp 2
  own rsvp later 2
  own when 2
  own when later 2
own settles
`;
export const difference =
  'OpenTelemetry has callbacks of one turn below the request whose promise was settled first. Each is its caller’s.';

const LIBRARIES = {
  'es6-promise': es6.Promise,
  lie: Lie,
  promise: ThenPromise,
  rsvp: RSVP.Promise,
  when: when.Promise,
};

export async function run() {
  const settle = [];
  const request = (n) =>
    own(`request ${n}`, () => {
      const called = (name, ask) =>
        new Promise((resolve) => {
          ask(() => {
            own(`${name} ${n}`);
            resolve();
          });
        });
      const calls = Object.entries(LIBRARIES).flatMap(([name, Library]) => [
        called(name, (callback) => new Library((resolve) => resolve(1)).then(callback)),
        called(`${name} later`, (callback) =>
          new Library((resolve) => settle.push(resolve)).then(callback),
        ),
      ]);
      return Promise.all([...calls, called('asap', asap)]);
    });
  const both = [request(1), request(2)];
  own('settles', () => {
    for (const each of settle) each(1);
  });
  await Promise.all(both);
}
