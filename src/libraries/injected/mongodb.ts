import { method } from './injected-file.js';
import type { Injection } from './injected-file.js';

export const mongodb: Injection = {
  files: [
    {
      package: 'mongodb',
      path: /^lib\/operations\/execute_operation\.js$/,
      methods: [method('orchestrion:mongodb:operation', 'exports', 'executeOperation')],
    },
  ],
};
