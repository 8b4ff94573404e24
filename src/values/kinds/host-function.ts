/** A function of the host, as scripts hold it: an export of a Node module, a method read off a host object. */
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

  /** Takes and gives native values; what it throws is the caller's business. */
  apply(args: readonly unknown[]): unknown {
    return Reflect.apply(this.target, this.self, args);
  }
}
