import type { Injection } from './injected-file.js';

export const mssql: Injection = {
  files: [
    {
      package: 'mssql',
      path: /^lib\/base\/connection-pool\.js$/,
      unless: /require\('\.\.\/diagnostics'\)/,
      reason: 'it publishes nothing; 12.7.0 and later do',
    },
  ],
};
