// An Express service with compiled templates that is asked for as much as its thread can do, and more. The work is in
// many short functions: none of them is the line that blocks.
import { drive, library } from './program.mjs';

const pages = Array.from({ length: 300 }, (_, page) =>
  Function(
    'now',
    `for (const until = now() + 12; now() < until;);\n//# sourceURL=templates/page-${page}.js`,
  ),
);
const app = library('express')();
let rendered = 0;
app.get('/render/:page', (_, response) => {
  pages[rendered++ % pages.length](() => performance.now());
  response.send('page');
});
drive(app, ['/render/1', '/render/2'], 100, undefined, 8);
