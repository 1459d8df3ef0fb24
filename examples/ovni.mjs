// Writes an ovni trace by hand: one thread that works on two tasks. Then look at it:
//
//   node examples/ovni.mjs
//   npx tracewright dump traces/ovni-example

import * as ovni from 'tracewright/ovni';

const { traceDir } = ovni.procInit(1, 'example', process.pid, {
  traceDir: 'traces/ovni-example',
  version: 3,
});
ovni.threadInit();
ovni.addCpu(0, 0);

const TASK = 10;
ovni.markType(TASK, 'Task', { stack: true });
ovni.markLabel(TASK, 1, 'sort');
ovni.markLabel(TASK, 2, 'sum');

const execute = ovni.event('OHx'); // cpu, creator's thread id, tag
const end = ovni.event('OHe');
execute(0, process.pid, 0);
ovni.markPush(TASK, 1);
const numbers = Float64Array.from({ length: 1_000_000 }, Math.random).sort();
ovni.markPush(TASK, 2);
numbers.reduce((sum, each) => sum + each);
ovni.markPop(TASK, 2);
ovni.markPop(TASK, 1);
end();

ovni.threadFree();
ovni.procFini();
console.log(`npx tracewright dump ${traceDir}`);
