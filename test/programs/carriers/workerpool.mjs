// Answers of one worker of workerpool, whose promises are its own.
import workerpool from 'workerpool';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own after 1
  own then 1
own request 2
  own after 2
  own then 2
own request 3
  own after 3
  own then 3
`;
export const difference =
  'OpenTelemetry has what follows below the request whose answer came before. The request that asked is right.';

export async function run() {
  const pool = workerpool.pool({ maxWorkers: 1 });
  const request = (n) =>
    own(`request ${n}`, async () => {
      await pool.exec((value) => value, [n]).then(() => own(`then ${n}`));
      own(`after ${n}`);
    });
  await Promise.all([request(1), request(2), request(3)]);
  await pool.terminate();
}
