// Runs the program that its argument names, and tells the runner the names of its ports.

import { closeServers, followRunner, ports } from './program.mjs';

followRunner();
const { run } = await import(process.argv[2]);
await run();
await closeServers();
process.send({ ports: [...ports] });
process.disconnect();
