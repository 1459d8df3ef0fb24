// Runs the hook with real frameworks and loggers, which npm installs into build/frameworks.
//
//   npm run test:frameworks

import { testWithPackages } from './test-with-packages.mjs';

const packages = {
  express4: 'npm:express@4.22.3',
  express5: 'npm:express@5.3.0',
  fastify4: 'npm:fastify@4.29.1',
  fastify5: 'npm:fastify@5.12.8',
  hono: '4.13.19',
  '@hono/node-server': '^1.19.0',
  '@koa/router': '^14.0.0',
  koa: '2.16.4',
};

testWithPackages({
  packages,
  optional: { pm2: '7.0.4' },
  directory: 'frameworks',
  tests: 'test/node/frameworks',
  variable: 'TRACEWRIGHT_TEST_FRAMEWORKS',
});
