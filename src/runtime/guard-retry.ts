/**
 * A guard's `retry`. That of an after-guard travels to the operation, which runs again; that of a before-guard to the pipeline around,
 * which runs its source again. instrumentation.md 4.5.
 */
export class GuardRetry extends Error {
  constructor(
    readonly timing: 'before' | 'after',
    readonly hint: string,
  ) {
    super(`a guard requested another attempt: ${hint}`);
    this.name = 'GuardRetry';
  }
}
