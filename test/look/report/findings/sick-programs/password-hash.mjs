// A bare service that hashes passwords on its event loop.
import { pbkdf2Sync } from 'node:crypto';
import { drive } from './program.mjs';

function hash(password) {
  return pbkdf2Sync(password, 'salt', 150_000, 64, 'sha512').toString('hex');
}
let asked = 0;
drive(
  (request, response) => {
    response.end(request.url === '/login' && ++asked % 10 === 0 ? hash('password') : 'hello');
  },
  ['/login', '/hello'],
);
