// An Express service that keeps every session.
import { drive, library } from './program.mjs';

const app = library('express')();
const sessions = [];
app.get('/login', (_, response) => {
  sessions.push(new Array(60_000).fill(sessions.length + 0.5));
  setTimeout(() => response.send('welcome'), 20);
});
drive(app, ['/login']);
