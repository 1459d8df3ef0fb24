// A Koa service whose pattern tries every space of a long text.
import { drive, library } from './program.mjs';

const app = new (library('koa'))();
const router = new (library('@koa/router').Router)();
function trimmed(text) {
  return text.replace(/\s+$/, '');
}
let asked = 0;
router.get('/comments', (context) => {
  context.body = trimmed(++asked % 10 === 0 ? `a${' '.repeat(14_000)}b` : 'short ');
});
app.use(router.routes());
drive(app.callback(), ['/comments']);
