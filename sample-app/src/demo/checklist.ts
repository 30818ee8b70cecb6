/** What the demo shows has to be true: it collects what isn't. */
export class Checklist {
  readonly failures: string[] = [];
  passed = 0;

  equal<T>(fact: string, actual: T, expected: T): void {
    const [was, should] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (was === should) this.passed += 1;
    else this.failures.push(`${fact}: ${was} instead of ${should}`);
  }
}
