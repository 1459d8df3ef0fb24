// Which code kept the main thread busy? On SIGUSR2 a running service records a CPU profile of ten seconds, prints which of
// its own functions took the most time, with all that they called, and writes the profile to the working directory.
//
//   node --require tracewright/register --import ./examples/busy-functions.mjs service.js
//   kill -USR2 PID

import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const SECONDS = 10;
const MOST = 10;

const isOwn = ({ url }) => /^(?:file:\/\/|\/)/.test(url) && !url.includes('/node_modules/');

/** Milliseconds by `function (file:line)`, the most first. What Node and packages do counts for the function that asked. */
function busyFunctions({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map();
  for (const node of nodes) for (const child of node.children ?? []) callers.set(child, node);
  const times = new Map();
  for (const [at, id] of samples.entries()) {
    let node = byId.get(id);
    while (node !== undefined && !isOwn(node.callFrame)) node = callers.get(node.id);
    if (node === undefined) continue;
    const { functionName, url, lineNumber } = node.callFrame;
    const name = `${functionName || 'a function'} (${url.replace('file://', '')}:${lineNumber + 1})`;
    times.set(name, (times.get(name) ?? 0) + timeDeltas[at] / 1000);
  }
  return [...times].sort(([, a], [, b]) => b - a).slice(0, MOST);
}

async function record() {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  const begin = new Date().toISOString();
  await sleep(SECONDS * 1000);
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  const path = `profile-${process.pid}-${begin.replaceAll(':', '-')}.cpuprofile`;
  writeFileSync(path, JSON.stringify(profile));
  const lines = busyFunctions(profile).map(
    ([name, time]) => `${time.toFixed(0).padStart(6)} ms  ${name}\n`,
  );
  process.stderr.write(`${path}: ${SECONDS} s from ${begin}\n${lines.join('')}`);
}

process.on('SIGUSR2', () => void record());
