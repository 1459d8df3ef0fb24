// A bare service that hashes passwords on its event loop.
import { pbkdf2Sync } from 'node:crypto';
import { amountFor, drive } from './program.mjs';

const iterations = amountFor(120, (many) => pbkdf2Sync('password', 'salt', many, 64, 'sha512'));
function hash(password) {
  return pbkdf2Sync(password, 'salt', iterations, 64, 'sha512').toString('hex');
}
let asked = 0;
drive(
  (request, response) => {
    response.end(request.url === '/login' && ++asked % 10 === 0 ? hash('password') : 'hello');
  },
  ['/login', '/hello'],
);
