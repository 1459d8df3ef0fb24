// A Koa service that sums up all orders again and again, in small steps.
import { drive, library, work } from './program.mjs';

const app = new (library('koa'))();
const router = new (library('@koa/router').Router)();
router.get('/total', (context) => {
  context.body = 'total';
});
app.use(router.routes());
setInterval(() => work(5), 12);
drive(app.callback(), ['/total']);
