// The worker of threads.mjs.
import { Observable } from 'threads/observable';
import { expose } from 'threads/worker';

expose({
  add: async (a, b) => a + b,
  count: () =>
    new Observable((observer) => {
      setTimeout(() => {
        observer.next(1);
        observer.complete();
      }, 5);
    }),
});
