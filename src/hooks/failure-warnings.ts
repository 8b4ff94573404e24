/**
 * Warns of hooks that fail: of each cause at once, and of how often it came back at the end. instrumentation.md 5.11.
 *
 * The cause is the hook with the place of the error in the script; with the message, where the error has no place.
 */
import { MlldError } from '../errors.js';

interface Cause {
  readonly hook: string;
  readonly message: string;
  again: number;
}

export class HookWarnings {
  private readonly causes = new Map<string, Cause>();

  /** Returns the warning of a cause that is new; undefined for one that is known. */
  add(hook: string, error: unknown): string | undefined {
    const message = (error instanceof Error ? error.message : String(error)).replace(/\s*\n\s*/g, ' ');
    const place = error instanceof MlldError ? error.location : undefined;
    const cause = `${hook}\n${place ? `${place.file}:${place.at}` : message}`;
    const known = this.causes.get(cause);
    if (known) {
      known.again++;
      return undefined;
    }
    this.causes.set(cause, { hook, message, again: 0 });
    return `hook ${hook}: ${message}`;
  }

  /** Returns a line for each cause that came back, in the order in which they came first. */
  repeated(): readonly string[] {
    return [...this.causes.values()]
      .filter(({ again }) => again > 0)
      .map(({ hook, message, again }) => `hook ${hook} failed ${again === 1 ? 'once more' : `${again} more times`}: ${message}`);
  }
}
