import { joinBatch, runBatch } from '../engine/batch-callers.js';
import { boundCallback } from '../engine/callers.js';
import type { ChangedText, Injection } from './injected-file.js';

/** Libraries that record nothing: they call functions of the program elsewhere than where it asked for that. */

/** A function runs for all that asked for a key of its batch. */
export const dataloader: Injection = {
  files: [
    {
      package: 'dataloader',
      path: /^index\.js$/,
      texts: [
        {
          channel: 'orchestrion:dataloader:batch',
          from: 'batch.keys.push(key);',
          to: '$channel.join(batch); $match',
        },
        {
          channel: 'orchestrion:dataloader:batch',
          from: 'loader._batchLoadFn(batch.keys)',
          to: '$channel.run(batch, () => $match)',
        },
      ],
    },
  ],
  calls: () => ({ join: joinBatch, run: runBatch }),
};

const task = (name: string): ChangedText => ({
  channel: 'orchestrion:p-queue:task',
  from: new RegExp(`\\basync add\\(${name}, options = \\{\\}\\) \\{`),
  to: `$match ${name} = $channel.bound(${name});`,
  isOptional: true,
});

/** A task begins when another has ended. */
export const pQueue: Injection = {
  files: [
    {
      package: 'p-queue',
      path: /^dist\/index\.js$/,
      texts: ['fn', 'function_'].map(task),
    },
  ],
  calls: () => ({ bound: boundCallback }),
};
