// Express 5 with multer and a storage of the program.
import express from 'express';
import multer from 'multer';
import { multipart } from '../multipart.mjs';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST /reports 200
  own filter
  own handle /reports
  own handler
  own stored
`;

export async function run() {
  const storage = {
    _handleFile(request, file, done) {
      own(`handle ${request.url}`);
      file.stream.resume().on('end', () => {
        own('stored');
        done(null, { size: 4 });
      });
    },
    _removeFile: (request, file, done) => done(null),
  };
  const app = express();
  const upload = multer({
    storage,
    fileFilter(request, file, done) {
      own('filter');
      done(null, true);
    },
  });
  app.post('/reports', upload.array('report'), (request, response) => {
    own('handler');
    response.end();
  });
  const { headers, body } = multipart({}, { report: 'text' });
  await ask(`${await listen(app.listen(0))}/reports`, { method: 'POST', headers, body });
}
