/** Says once for a worker and all its runs that the store is away, and once that it is back. */
export class StoreOutages {
  private away = 0;
  private latest: Error | undefined;

  constructor(
    private readonly stderr: (text: string) => void,
    /** Called when a further part of the worker has met the outage. */
    private readonly onMet: () => void,
  ) {}

  /** Undefined while the store is there. */
  get error(): Error | undefined {
    return this.away > 0 ? this.latest : undefined;
  }

  /** A part that has called this calls `ended` before it may call it again. */
  began(error: Error): void {
    this.latest = error;
    if (this.away++ === 0) this.stderr(`warning: ${error.message}; what is in flight continues, and the worker waits for it\n`);
    this.onMet();
  }

  ended(): void {
    if (--this.away === 0) this.stderr('the store can be reached again\n');
  }
}
