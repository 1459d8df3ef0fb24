// Sends each message back, as a worker thread or as a child process.
import { parentPort } from 'node:worker_threads';

if (parentPort !== null) parentPort.on('message', (message) => parentPort.postMessage(message));
else process.on('message', (message) => process.send(message));
