import { registerOTel } from '@vercel/otel';

const processor = {
  onStart() {},
  onEnd(span) {
    console.log(`theirs ${span.name}`);
  },
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

export function register() {
  registerOTel({ serviceName: 'next', spanProcessors: [processor] });
}
