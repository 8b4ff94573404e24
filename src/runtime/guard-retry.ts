/** A guard's `retry`: it travels to the pipeline around, which runs its source again. instrumentation.md 4.5. */
export class GuardRetry extends Error {
  constructor(readonly reason: string) {
    super(reason);
    this.name = 'GuardRetry';
  }
}
