// A bare service with a large cache, whose requests make garbage: each collection looks at the whole heap.
import { drive } from './program.mjs';

const cache = Array.from({ length: 900_000 }, (_, id) => ({ id, price: { of: id / 7 } }));
drive(
  (_, response) => {
    const rows = Array.from({ length: 150 }, (_, row) => new Array(1000).fill(row));
    response.end(String(cache.length + rows.length));
  },
  ['/price'],
  40,
);
