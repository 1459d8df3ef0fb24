import { call } from './injected-file.js';
import type { Injection } from './injected-file.js';

export const nest: Injection = {
  files: [
    {
      package: '@nestjs/core',
      path: /^router\/router-execution-context\.js$/,
      texts: [
        call(
          'orchestrion:@nestjs/core:handler',
          'callback.apply(instance, args',
          'controller: instance.constructor, method: methodName',
          'callback',
        ),
      ],
    },
  ],
};
