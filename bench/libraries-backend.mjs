// What the service of bench/libraries-service.mjs asks with fetch.

import { answerJson, serveLoad } from './loaded-service.mjs';

const BODY = JSON.stringify({ pieces: 3, place: 'Lisbon' });

serveLoad((_, response) => {
  answerJson(response, BODY);
});
