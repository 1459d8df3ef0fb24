// Says what it is told, as a worker thread or as a child process.
import { parentPort } from 'node:worker_threads';

if (parentPort !== null) parentPort.on('message', (message) => parentPort.postMessage(message));
else process.on('message', (message) => process.send(message));
