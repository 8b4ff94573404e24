/** Wraps a function of the host for scripts: an export of a Node module, a method read from a host object. */
import { Callable } from './callable.js';

export class HostFunction extends Callable {
  readonly params: readonly string[] = [];
  readonly labels: readonly string[] = [];
  constructor(
    readonly name: string,
    /** Also the constructor that `new @Name(…)` calls. */
    readonly target: (...args: unknown[]) => unknown,
    /** The object that the function was read from. */
    readonly self?: unknown,
  ) {
    super();
  }

  /** Takes and returns native values; the caller handles what it throws. */
  apply(args: readonly unknown[]): unknown {
    return Reflect.apply(this.target, this.self, args);
  }
}
