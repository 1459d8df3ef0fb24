// Fibers of Effect 3 that run in one turn of the loop, and one that another wakes up by giving back a permit.
import { Effect, Stream } from 'effect';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own at once 1
  own forked 1
  own permitted 1
  own slept 1
  own streamed 1
  own yielded 1
own request 2
  own at once 2
  own forked 2
  own permitted 2
  own slept 2
  own streamed 2
  own yielded 2
`;
export const difference =
  'OpenTelemetry has what runs in one turn below the request whose fiber was first. Each is below its own.';

export async function run() {
  const semaphore = Effect.runSync(Effect.makeSemaphore(1));
  const request = (n) => {
    const mark = (what) => Effect.sync(() => own(`${what} ${n}`));
    return own(`request ${n}`, () =>
      Effect.runPromise(
        Effect.gen(function* () {
          yield* mark('at once');
          yield* Effect.yieldNow();
          yield* mark('yielded');
          yield* Effect.sleep('3 millis');
          yield* mark('slept');
          yield* semaphore.withPermits(1)(
            Effect.zipRight(Effect.sleep('4 millis'), mark('permitted')),
          );
          yield* Effect.all([Effect.sleep('1 millis'), mark('forked')], {
            concurrency: 'unbounded',
          });
          yield* Stream.runForEach(Stream.make(1), () => mark('streamed'));
        }),
      ),
    );
  };
  await Promise.all([request(1), request(2)]);
}
