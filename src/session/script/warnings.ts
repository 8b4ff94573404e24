/**
 * Puts the warnings of one cause together in a line that has their number and the first of them. control.md 24.5.
 *
 * A warning waits a moment for others of its cause, so that a loop that fails 200 times at once leaves one line. Of those that follow
 * later, one more line at the end of the run says how many they were.
 */
interface Cause {
  readonly first: string;
  /** The messages differ, because they name the item. */
  hasOthers: boolean;
  /** The number of warnings since the last line. */
  count: number;
  isWritten: boolean;
}

/** Warnings are written this long after the first one that is held back. */
const HELD_MS = 1000;

export class Warnings {
  private readonly causes = new Map<string, Cause>();
  private timer: NodeJS.Timeout | undefined;

  /** `write` gets whole messages. With `isVerbose` each one is written at once. */
  constructor(
    private readonly write: (message: string) => void,
    private readonly isVerbose: boolean,
  ) {}

  add(message: string, cause: string): void {
    if (this.isVerbose) return this.write(message);
    const known = this.causes.get(cause);
    if (known) {
      known.count++;
      known.hasOthers ||= known.first !== message;
      return;
    }
    this.causes.set(cause, { first: message, hasOthers: false, count: 1, isWritten: false });
    // A run that has ended must not wait for it.
    this.timer ??= setTimeout(() => this.writeNew(), HELD_MS).unref();
  }

  /** Writes everything that was not written yet: new causes, and how often known ones came back. */
  end(): void {
    this.writeNew();
    for (const cause of this.causes.values()) this.writeCause(cause);
  }

  private writeNew(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const cause of this.causes.values()) if (!cause.isWritten) this.writeCause(cause);
  }

  private writeCause(cause: Cause): void {
    const { first, count, hasOthers, isWritten } = cause;
    if (count === 0) return;
    cause.count = 0;
    cause.isWritten = true;
    if (isWritten) this.write(`${count === 1 ? 'once more' : `${count} more times`}${hasOthers ? ', first' : ''}: ${first}`);
    else this.write(count === 1 ? first : `${count} times${hasOthers ? ', first' : ''}: ${first}`);
  }
}
