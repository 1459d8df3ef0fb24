import type { Reporter, TestModule } from 'vitest/node';

/** Lists the tests that failed first and passed then, and why: each of them is a fault to be mended. */
export class RetriedTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const retried: string[] = [];
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const count = test.diagnostic()?.retryCount ?? 0;
        if (count === 0) continue;
        retried.push(`  ${module.relativeModuleId} > ${test.fullName}`);
        for (const { message } of test.result().errors ?? []) retried.push(`    ${message}`);
      }
    }
    if (retried.length > 0) process.stderr.write(`\nRETRIED:\n${retried.join('\n')}\n`);
  }
}
