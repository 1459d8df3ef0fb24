// The addon of bcrypt calls back: what follows is below its caller.
import bcrypt from 'bcrypt';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own compared 1
  own hashed 1
  own salted 1
own request 2
  own compared 2
  own hashed 2
  own salted 2
`;
export const difference = 'OpenTelemetry has callbacks below nobody. Each is its caller’s.';

const ROUNDS = 4;

export async function run() {
  const request = (n) =>
    own(`request ${n}`, async () => {
      const salt = await new Promise((resolve) => {
        bcrypt.genSalt(ROUNDS, (_, made) => {
          own(`salted ${n}`);
          resolve(made);
        });
      });
      const hash = await new Promise((resolve) => {
        bcrypt.hash('password', salt, (_, made) => {
          own(`hashed ${n}`);
          resolve(made);
        });
      });
      await new Promise((resolve) => {
        bcrypt.compare('password', hash, () => {
          own(`compared ${n}`);
          resolve();
        });
      });
    });
  await Promise.all([request(1), request(2)]);
}
