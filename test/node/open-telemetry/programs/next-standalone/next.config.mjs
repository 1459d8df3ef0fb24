import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

// Where node_modules is, rather than where npm's lock files are.
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export default {
  output: 'standalone',
  outputFileTracingRoot: root,
  serverExternalPackages: ['pg'],
  turbopack: { root },
};
