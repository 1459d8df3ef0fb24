// A bare service whose background job throws, once it has something to do.
import { drive } from './program.mjs';

const events = [];
setInterval(() => {
  if (events.length > 250) events.find(({ user }) => user.name === 'nobody');
}, 500);
drive(
  (request, response) => {
    events.push({ path: request.url });
    setTimeout(() => response.end('noted'), 10);
  },
  ['/note'],
);
