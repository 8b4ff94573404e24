/** Marks a function as a value: one that `exe` declares, a module of the host exports, or that is built in. */
export abstract class Callable {
  abstract readonly name: string;
  abstract readonly params: readonly string[];
  abstract readonly labels: readonly string[];
  toJSON(): unknown {
    return `<function(${this.params.join(', ')})>`;
  }
}
