/**
 * Random programs of functions that call each other, at each place where an llm call can stand, with texts that an edit can change one at
 * a time. What they print follows from their texts alone, so a run that may reuse anything has to print what a run without a past prints.
 */

/** Chooses a number from 0 to `max`; 0 is the simplest choice. */
export type Choose = (max: number) => number;

export interface Program {
  /** The number of texts in it. */
  readonly texts: number;
  /** Returns the script and its module; `edited` is the text that is another one. */
  write(edited?: number): { readonly script: string; readonly module: string };
}

interface Callable {
  readonly name: string;
  readonly params: readonly string[];
}

export function anyProgram(choose: Choose): Program {
  const { script, module, texts } = new ProgramMaker(choose).program();
  return {
    texts,
    write(edited) {
      const filled = (lines: readonly string[]): string =>
        `${lines.join('\n')}\n`.replaceAll(/<(\d+)>/g, (_, n: string) => `${Number(n) === edited ? 'edited' : 'text'}${n}`);
      return { script: filled(script), module: filled(module) };
    },
  };
}

class ProgramMaker {
  private texts = 0;
  private names = 0;
  private readonly functions: Callable[] = [];

  constructor(private readonly choose: Choose) {}

  program(): { readonly script: readonly string[]; readonly module: readonly string[]; readonly texts: number } {
    const module = [`var @kept = ${this.quoted()}`];
    for (let i = 0; i <= this.choose(2); i++) module.push(this.declared(`g${i}`, ['kept']));
    const exported = ['kept', ...this.functions.map(({ name }) => name)].map((name) => `@${name}`).join(', ');
    module.push(`export { ${exported} }`);
    const script: string[] = [];
    const scope = ['v'];
    if (this.choose(1) === 0) {
      script.push(`import { ${exported} } from "./module.mld"`);
      scope.push('kept');
    } else {
      script.push('import "./module.mld" as @module');
      this.functions.splice(0, Infinity, ...this.functions.map(({ name, params }) => ({ name: `module.${name}`, params })));
    }
    script.push(`var @v = ${this.quoted()}`, `exe @plain(a) = \`${this.text()} @a\``);
    script.push('exe llm @apply(f, x) = [\n  => @f(@x)\n]');
    for (let i = 0; i <= 1 + this.choose(2); i++) script.push(this.declared(`f${i}`, scope));
    script.push(...this.interceptors());
    for (let i = 0; i <= 1 + this.choose(2); i++) script.push(...this.shown(scope));
    return { script, module, texts: this.texts };
  }

  private declared(name: string, outer: readonly string[]): string {
    // Functions with the same names for their parameters look the same as texts.
    const params = ['a', 'b'].slice(0, 1 + this.choose(1));
    const label = this.choose(2) === 2 ? '' : ' llm';
    const line = `exe${label} @${name}(${params.join(', ')}) = ${this.body(params, outer)}`;
    this.functions.push({ name, params });
    return line;
  }

  private body(params: readonly string[], outer: readonly string[]): string {
    const scope = [...params, ...outer];
    switch (this.choose(6)) {
      case 0:
      case 1:
        return this.code(params, scope);
      case 2:
        return `\`${this.text()} ${scope.map((name) => `@${name}`).join(' ')}\``;
      case 3:
        return `when [ @${params[0]} == ${this.quoted()} => ${this.expression(scope, 1)}\n  * => ${this.expression(scope, 2)} ]`;
      case 4:
        return `[\n  let @all = ${this.loop(scope)}\n  => @all.join("+")\n]`;
      default:
        return this.block(params, scope);
    }
  }

  private block(params: readonly string[], outer: readonly string[]): string {
    const scope = [...outer];
    const lines: string[] = [];
    for (let i = 0; i <= this.choose(1); i++) {
      const name = this.fresh('y');
      lines.push(
        this.choose(1) === 0 ? `let @${name} = ${this.expression(scope, 2)}` : `var llm @${name} = ${this.labelled(params, scope)}`,
      );
      scope.push(name);
    }
    return `[\n  ${[...lines, `=> ${this.expression(scope, 2)}`].join('\n  ')}\n]`;
  }

  private code(params: readonly string[], scope: readonly string[]): string {
    const isListed = this.choose(1) === 1;
    const given = isListed ? [this.one(scope)] : params;
    const list = isListed ? ` (@${given[0]})` : '';
    // A process of its own takes its time.
    if (this.choose(7) === 7) return `sh${list} { echo "${this.text()} ${given.map((name) => `$${name}`).join(' ')}" }`;
    return `js${list} { return "${this.text()}(" + [${given.join(', ')}].join(",") + ")" }`;
  }

  /** Returns what may stand behind `var llm @x =`. */
  private labelled(params: readonly string[], scope: readonly string[]): string {
    switch (this.choose(5)) {
      case 0:
      case 1:
        return this.call(scope, 1);
      case 2:
        return `${this.call(scope, 1)} | @${this.one(this.ofOneParameter()).name}`;
      case 3:
        return `run @${this.one(scope)} | sh { echo "${this.text()} $(cat)" }`;
      default:
        return this.code(params, scope);
    }
  }

  private expression(scope: readonly string[], depth: number): string {
    if (depth === 0) return this.atom(scope);
    switch (this.choose(7)) {
      case 0:
        return this.atom(scope);
      case 1:
        return `\`${this.text()} @${this.one(scope)}!\``;
      case 2:
        return `${this.atom(scope)} | @${this.one(this.ofOneParameter()).name}`;
      case 3:
        return `foreach @${this.one(this.ofOneParameter()).name}([${this.atom(scope)}, ${this.atom(scope)}])`;
      case 4:
        return `@${this.one(scope)} == ${this.quoted()} ? ${this.atom(scope)} : ${this.atom(scope)}`;
      default:
        return this.call(scope, depth);
    }
  }

  private shown(scope: string[]): readonly string[] {
    const name = this.fresh('w');
    switch (this.choose(4)) {
      case 0:
        scope.push(name);
        return [`var llm @${name} = ${this.labelled([], scope.slice(0, -1))}`, `show @${name}`];
      case 1:
        return [`var @${name} = ${this.loop(scope)}`, `show @${name}`];
      case 2: {
        const given = ['plain', ...this.ofOneParameter().map((each) => each.name)];
        const argument = this.atom(scope);
        return [this.one(given), this.one(given)].map((fn) => `show @apply(@${fn}, ${argument})`);
      }
      default:
        return [`show ${this.call(scope, 2)}`];
    }
  }

  private interceptors(): readonly string[] {
    const { name, params } = this.one(this.functions.filter((each) => !each.name.includes('.')));
    switch (this.choose(4)) {
      case 1:
        return [`hook @h after @${name} = [ => \`${this.text()} @output\` ]`];
      case 2:
        return params.length > 1 ? [] : [`hook @h before @${name} = [ => \`${this.text()} @input[0]\` ]`];
      case 3:
        return [`guard @d after @${name} = when [ * => allow \`${this.text()} @output\` ]`];
      default:
        return [];
    }
  }

  private loop(scope: readonly string[]): string {
    const item = this.fresh('i');
    const kind = this.choose(1) === 0 ? 'for' : 'for parallel(2)';
    return `${kind} @${item} in [${this.atom(scope)}, ${this.atom(scope)}] => ${this.call([item, ...scope], 1)}`;
  }

  private call(scope: readonly string[], depth: number): string {
    if (this.functions.length === 0) return this.atom(scope);
    const { name, params } = this.one(this.functions);
    return `@${name}(${params.map(() => this.expression(scope, depth - 1)).join(', ')})`;
  }

  private atom(scope: readonly string[]): string {
    return this.choose(2) < 2 ? `@${this.one(scope)}` : this.quoted();
  }

  private ofOneParameter(): readonly Callable[] {
    const found = this.functions.filter(({ params }) => params.length === 1);
    return found.length === 0 ? [{ name: 'trim', params: ['value'] }] : found;
  }

  private one<T>(list: readonly T[]): T {
    return list[this.choose(list.length - 1)] as T;
  }

  private quoted(): string {
    return `"${this.text()}"`;
  }

  private text(): string {
    return `<${this.texts++}>`;
  }

  private fresh(letter: string): string {
    return `${letter}${this.names++}`;
  }
}
