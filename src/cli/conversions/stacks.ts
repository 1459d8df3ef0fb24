import { counted } from '../../core/readable-text.js';
import { pprofBytes } from '../../export/stacks/pprof.js';
import { sampledStacks } from '../../export/stacks/sampled-stacks.js';
import type { ThreadStacks } from '../../export/stacks/sampled-stacks.js';
import { speedscopeText } from '../../export/stacks/speedscope.js';
import { openLookIndex } from '../../look/index/open-look-index.js';
import { type ConversionRequest, exportTraces } from './export.js';
import { withSpans } from './input-traces.js';

type Encode = (threads: readonly ThreadStacks[], epoch: bigint) => Uint8Array;

function convertStacks(
  request: ConversionRequest,
  isBinary: boolean,
  encode: Encode,
): Promise<number> {
  return exportTraces(request, {
    choose: withSpans,
    isBinary,
    async open(traces) {
      const index = await openLookIndex(traces.map(({ path }) => path));
      try {
        const threads = await sampledStacks(index);
        const count = threads.reduce((sum, { stacks }) => sum + stacks.length, 0);
        return {
          chunks: () => [encode(threads, index.epoch)],
          summary: () => `${counted(count, 'stack')} of ${counted(threads.length, 'thread')}`,
        };
      } finally {
        index.close();
      }
    },
  });
}

/** `convert --to speedscope`. */
export function convertToSpeedscope(request: ConversionRequest): Promise<number> {
  return convertStacks(request, false, (threads) => Buffer.from(speedscopeText(threads)));
}

/** `convert --to pprof`. */
export function convertToPprof(request: ConversionRequest): Promise<number> {
  return convertStacks(request, true, pprofBytes);
}
