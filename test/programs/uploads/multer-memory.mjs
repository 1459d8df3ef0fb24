// Express 5 with multer, which keeps the file in memory.
import express from 'express';
import multer from 'multer';
import { multipart } from '../multipart.mjs';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST /reports/:id 200
  own handler of 4
`;

export async function run() {
  const app = express();
  const upload = multer();
  app.post('/reports/:id', upload.single('report'), (request, response) => {
    own(`handler of ${request.file.size}`);
    response.end();
  });
  const { headers, body } = multipart({ title: 'a' }, { report: 'text' });
  await ask(`${await listen(app.listen(0))}/reports/7`, { method: 'POST', headers, body });
}
