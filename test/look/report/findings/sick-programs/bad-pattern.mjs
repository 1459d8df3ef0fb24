// A Koa service whose pattern tries every space of a long text.
import { amountFor, drive, library } from './program.mjs';

const app = new (library('koa'))();
const router = new (library('@koa/router').Router)();
function trimmed(text) {
  return text.replace(/\s+$/, '');
}
const spaces = amountFor(150, (many) => trimmed(`a${' '.repeat(many)}b`));
let asked = 0;
router.get('/comments', (context) => {
  context.body = trimmed(++asked % 10 === 0 ? `a${' '.repeat(spaces)}b` : 'short ');
});
app.use(router.routes());
drive(app.callback(), ['/comments']);
