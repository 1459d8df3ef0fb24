import { call } from './injected-file.js';
import type { Injection } from './injected-file.js';

export const kafkajs: Injection = {
  files: [
    {
      package: 'kafkajs',
      path: /^src\/producer\/messageProducer\.js$/,
      texts: [
        {
          channel: 'orchestrion:kafkajs:publish',
          from: 'const sendBatch = async (',
          to:
            'const sendBatch = (...batch) => $channel.call(sendBatch$tracewright, void 0, batch), ' +
            'sendBatch$tracewright = async (',
        },
      ],
    },
    {
      package: 'kafkajs',
      path: /^src\/consumer\/runner\.js$/,
      texts: [
        call(
          'orchestrion:kafkajs:process',
          'this.eachMessage({',
          'message, partition, runner: this, topic',
          'this',
        ),
        call(
          'orchestrion:kafkajs:process',
          'this.eachBatch({',
          'batch, partition: batch.partition, runner: this, topic: batch.topic',
          'this',
        ),
      ],
    },
  ],
};
