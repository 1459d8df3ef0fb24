// multer refuses a file that is too large: the error handler runs in the request.
import express from 'express';
import multer from 'multer';
import { multipart } from '../multipart.mjs';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST /reports 413
  own refused LIMIT_FILE_SIZE
`;

export async function run() {
  const app = express();
  app.post(
    '/reports',
    multer({ limits: { fileSize: 2 } }).single('report'),
    (request, response) => {
      response.end();
    },
  );
  // eslint-disable-next-line no-unused-vars
  app.use((error, request, response, next) => {
    own(`refused ${error.code}`);
    response.status(413).end();
  });
  const { headers, body } = multipart({}, { report: 'text' });
  await ask(`${await listen(app.listen(0))}/reports`, { method: 'POST', headers, body });
}
