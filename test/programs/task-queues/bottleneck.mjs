// github.com/SGrondin/bottleneck/issues/211: a job that waits begins where another has ended, or in a timer.
import Bottleneck from 'bottleneck';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own after 1
  own job 1
  own wrapped 1
own request 2
  own after 2
  own job 2
  own wrapped 2
own request 3
  own after 3
  own job 3
  own wrapped 3
`;
export const difference =
  'OpenTelemetry has a job below the request whose job ended before, or below none. The request that added it is right.';

export async function run() {
  const limiter = new Bottleneck({
    maxConcurrent: 1,
    minTime: 1,
    reservoir: 2,
    reservoirRefreshAmount: 2,
    reservoirRefreshInterval: 250,
  });
  const wrapped = limiter.wrap(async (n) => {
    own(`wrapped ${n}`);
  });
  const request = (n) =>
    own(`request ${n}`, async () => {
      await limiter.schedule(async () => {
        await Promise.resolve();
        own(`job ${n}`);
      });
      await wrapped(n);
      await new Promise((resolve) => {
        limiter.submit(
          (done) => done(),
          () => {
            own(`after ${n}`);
            resolve();
          },
        );
      });
    });
  await Promise.all([request(1), request(2), request(3)]);
  await limiter.disconnect();
}
