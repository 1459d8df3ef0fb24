import { appendFileSync, readFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';

/** The condition in the source that skips a test, or a suite around it, and what its variable is. */
function conditionOf(test: TestCase): string | undefined {
  const source = readFileSync(test.module.moduleId, 'utf8');
  const lines = source.split('\n');
  for (
    let part: TestCase | TestSuite | TestModule = test;
    part.type !== 'module';
    part = part.parent
  ) {
    const line = lines[(part.location?.line ?? 0) - 1] ?? '';
    const [, kind, condition] = /\.(skip|run)If\((.*?)\)(?:\(|\.each\b|$)/.exec(line) ?? [];
    if (condition === undefined) continue;
    const [, name] = /^!?(\w+)/.exec(condition) ?? [];
    const [definition] = new RegExp(`(?<=^const )${name ?? ''} = .*(?=;$)`, 'm').exec(source) ?? [];
    const reason = kind === 'run' ? `not ${condition}` : condition;
    return definition === undefined ? reason : `${reason}, ${definition}`;
  }
  return undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Lists after the run the tests that failed first and passed then, each of them a fault to be mended, and those that
 * were skipped, and why. The counts and the failures go to the file that `TRACEWRIGHT_TEST_COUNTS` names.
 */
export class TestReports implements Reporter {
  #isFiltered = false;

  onInit(vitest: Vitest): void {
    this.#isFiltered = vitest.config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const retried: string[] = [];
    const skipped: string[] = [];
    const failures = unhandled.map((error) => `  ${messageOf(error)}`);
    const counts = { passed: 0, failed: unhandled.length, skipped: 0 };
    for (const module of modules) {
      // A file that could not be loaded, or a hook that failed.
      for (const part of [module, ...module.children.allSuites()]) {
        counts.failed += part.errors().length;
        for (const { message } of part.errors()) {
          failures.push(`  ${module.relativeModuleId}: ${message}`);
        }
      }
      for (const test of module.children.allTests()) {
        const title = `  ${module.relativeModuleId} > ${test.fullName}`;
        const result = test.result();
        if (result.state === 'skipped') {
          counts.skipped++;
          const reason = result.note ?? conditionOf(test);
          skipped.push(reason === undefined ? title : `${title}: ${reason}`);
          continue;
        }
        counts[result.state === 'passed' ? 'passed' : 'failed']++;
        if (result.state === 'failed') {
          failures.push(title, ...result.errors.map(({ message }) => `    ${message}`));
        }
        if ((test.diagnostic()?.retryCount ?? 0) === 0) continue;
        retried.push(title);
        for (const { message } of result.errors ?? []) retried.push(`    ${message}`);
      }
    }
    if (retried.length > 0) process.stderr.write(`\nRETRIED:\n${retried.join('\n')}\n`);
    if (skipped.length > 0 && !this.#isFiltered) {
      process.stdout.write(`\nSKIPPED:\n${skipped.join('\n')}\n`);
    }
    const file = process.env['TRACEWRIGHT_TEST_COUNTS'];
    if (file !== undefined) appendFileSync(file, `${JSON.stringify({ counts, failures })}\n`);
  }
}
