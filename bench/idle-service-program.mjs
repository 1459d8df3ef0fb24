// The service that bench/idle-service.mjs leaves alone: it answers everything but /open.

import { answerJson, serveLoad } from './loaded-service.mjs';

serveLoad((request, response) => {
  if (request.url !== '/open') answerJson(response, '{}');
});
