import type { Reporter, TestModule } from 'vitest/node';

/** Lists the tests that failed first and passed then: each of them is a fault to be mended. */
export class RetriedTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const retried: string[] = [];
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const count = test.diagnostic()?.retryCount ?? 0;
        if (count > 0) retried.push(`  ${module.relativeModuleId} > ${test.fullName}`);
      }
    }
    if (retried.length === 0) return;
    const tests = retried.length === 1 ? '1 TEST WAS' : `${retried.length} TESTS WERE`;
    process.stderr.write(`\n${tests} RETRIED:\n${retried.join('\n')}\n`);
  }
}
