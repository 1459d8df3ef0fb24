// An Express service that is asked for a little more than its thread can do.
import { drive, library, work } from './program.mjs';

const app = library('express')();
app.get('/render/:page', (_, response) => {
  work(12);
  response.send('page');
});
drive(app, ['/render/1', '/render/2'], 45);
