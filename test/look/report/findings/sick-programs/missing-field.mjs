// A Koa service that reads a field which one customer in five does not have.
import { drive, library } from './program.mjs';

const app = new (library('koa'))();
app.silent = true;
const router = new (library('@koa/router').Router)();
let asked = 0;
function cityOf() {
  const customer = ++asked % 5 === 0 ? {} : { address: { city: 'Bonn' } };
  return customer.address.city;
}
router.get('/customers/:id', (context) => {
  context.body = cityOf();
});
app.use(router.routes());
drive(app.callback(), ['/customers/1']);
