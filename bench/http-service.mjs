// The service that bench/http.mjs loads: it answers, counts, and reports the CPU time that it used.

import { answerJson, serveLoad } from './loaded-service.mjs';

const BODY = JSON.stringify({ message: 'hello, world' });

serveLoad((request, response) => {
  answerJson(response, BODY);
});
