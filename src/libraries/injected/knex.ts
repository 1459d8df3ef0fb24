import { method } from './injected-file.js';
import type { Injection } from './injected-file.js';

export const knex: Injection = {
  files: [
    {
      package: 'knex',
      path: /^lib\/client\.js$/,
      methods: [
        method('orchestrion:knex:acquire', 'module.exports.prototype', 'acquireConnection'),
      ],
    },
  ],
};
