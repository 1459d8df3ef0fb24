import { method } from './injected-file.js';
import type { Injection } from './injected-file.js';

export const graphql16: Injection = {
  files: [
    {
      package: 'graphql',
      path: /^execution\/execute\.js$/,
      methods: [method('orchestrion:graphql:execute', 'exports', 'execute')],
      unless: /diagnostics/,
    },
    {
      package: 'graphql',
      path: /^(?:execution|subscription)\/subscribe\.js$/,
      methods: [method('orchestrion:graphql:subscribe', 'exports', 'subscribe')],
      unless: /diagnostics/,
    },
  ],
};
