// Callbacks of q that are due at once run in one turn.
import Q from 'q';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own finally 1
  own then 1
own request 2
  own finally 2
  own then 2
`;
export const difference =
  'OpenTelemetry has callbacks of both requests below one of them. Each belongs to its own.';

export async function run() {
  const settled = [];
  const request = (n) =>
    own(`request ${n}`, () =>
      Q.Promise((resolve) => settled.push(resolve))
        .then(() => own(`then ${n}`))
        .finally(() => own(`finally ${n}`)),
    );
  const requests = [request(1), request(2)];
  for (const settle of settled) settle();
  await requests[0];
  await requests[1];
}
