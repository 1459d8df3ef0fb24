import { dirname } from 'node:path';

// Where node_modules is, rather than where npm's lock files are.
const root = dirname(import.meta.dirname);

export default {
  outputFileTracingRoot: root,
  turbopack: { root },
  rewrites: async () => [{ source: '/people/:id', destination: '/users/:id' }],
  redirects: async () => [{ source: '/moved/:id', destination: '/users/:id', permanent: false }],
};
