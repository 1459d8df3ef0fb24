// A Koa service that does without its partner after a second.
import { drive, library, partner } from './program.mjs';

const reviews = await partner((number) => [number % 7 === 5 ? 60_000 : 8]);
const app = new (library('koa'))();
const router = new (library('@koa/router').Router)();
router.get('/product', async (context) => {
  const answer = await fetch(`${reviews}/reviews`, { signal: AbortSignal.timeout(1000) }).catch(
    () => undefined,
  );
  context.body = answer === undefined ? 'no reviews' : await answer.text();
});
app.use(router.routes());
drive(app.callback(), ['/product']);
