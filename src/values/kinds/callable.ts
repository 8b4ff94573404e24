/** A function as a value: what `exe` declares, what a module of the host exports, what is built in. */
export abstract class Callable {
  abstract readonly name: string;
  abstract readonly params: readonly string[];
  abstract readonly labels: readonly string[];
  toJSON(): unknown {
    return `<function(${this.params.join(', ')})>`;
  }
}
