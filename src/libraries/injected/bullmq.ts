import { callOutside } from '../engine/callers.js';
import { method } from './injected-file.js';
import type { Injection } from './injected-file.js';

export const bullmq: Injection = {
  files: [
    {
      package: 'bullmq',
      path: /^dist\/cjs\/classes\/queue\.js$/,
      only: /upsertJobScheduler/,
      methods: [
        method('orchestrion:bullmq:add', 'Queue.prototype', 'addJob', 'add'),
        method('orchestrion:bullmq:addBulk', 'Queue.prototype', 'addBulk'),
        method('orchestrion:bullmq:schedule', 'Queue.prototype', 'upsertJobScheduler'),
      ],
    },
    {
      package: 'bullmq',
      path: /^dist\/cjs\/classes\/queue\.js$/,
      methods: [
        method('orchestrion:bullmq:add', 'Queue.prototype', 'addJob', 'add'),
        method('orchestrion:bullmq:addBulk', 'Queue.prototype', 'addBulk'),
      ],
    },
    {
      package: 'bullmq',
      path: /^dist\/cjs\/classes\/flow-producer\.js$/,
      methods: [
        method('orchestrion:bullmq:addFlow', 'FlowProducer.prototype', 'add'),
        method('orchestrion:bullmq:addFlows', 'FlowProducer.prototype', 'addBulk'),
      ],
    },
    {
      package: 'bullmq',
      path: /^dist\/cjs\/classes\/worker\.js$/,
      methods: [method('orchestrion:bullmq:process', 'Worker.prototype', 'callProcessJob')],
      // A worker may be started by what needs it first.
      texts: [
        {
          channel: 'orchestrion:bullmq:process',
          from: /\basync run\(\) \{/,
          to: 'run() { return $channel.outside(() => this.run$tracewright()); } async run$tracewright() {',
          isOptional: true,
        },
      ],
    },
  ],
  calls: () => ({ outside: callOutside }),
};
