import { method } from './injected-file.js';
import type { Injection } from './injected-file.js';

export const genericPool: Injection = {
  files: [
    {
      package: 'generic-pool',
      path: /^lib\/Pool\.js$/,
      methods: [method('orchestrion:generic-pool:acquire', 'Pool.prototype', 'acquire')],
    },
  ],
};
