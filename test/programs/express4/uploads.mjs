// A file is uploaded through multer.
import express from 'express';
import multer from 'multer';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST /albums/:id 200
  own stored 9
`;

export async function run() {
  const app = express();
  const upload = multer({ storage: multer.memoryStorage() });
  app.post('/albums/:id', upload.single('photo'), ({ file }, response) => {
    own(`stored ${file.size}`);
    response.end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  const body = [
    '--x',
    'content-disposition: form-data; name="photo"; filename="a.txt"',
    'content-type: text/plain',
    '',
    'nine char',
    '--x--',
    '',
  ].join('\r\n');
  const headers = { 'content-type': 'multipart/form-data; boundary=x' };
  await ask(`${url}/albums/1`, { method: 'POST', headers, body });
}
