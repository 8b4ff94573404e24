/** Declarations and uses of names, as they are known from the source without running it. control.md 6, values.md 3. */
import type { Exe, Expression, Import } from '../../grammar/ast.js';

export type DeclarationKind = 'var' | 'let' | 'exe' | 'import' | 'param' | 'loop' | 'implicit';

export interface Declaration {
  readonly name: string;
  readonly kind: DeclarationKind;
  readonly at: number;
  /** Is `sometimes` for the `var` of a `when` arm, which is declared only if the arm runs. */
  readonly made: 'always' | 'sometimes';
  readonly exe?: Exe;
  /** Is the value of a `var` or `let`, where it is certain. */
  readonly value?: Expression;
  readonly import?: Import;
  /** Is the earlier declaration of the name, because of which a run refuses this one. */
  readonly clash?: Declaration;
  /** Is true inside a block or a function, which a run may never reach. */
  readonly isNested?: true;
  /** Is the declaration below the function, which refuses this `let` in every call that is made after it. */
  readonly clashBelow?: Declaration;
}

/**
 * `text` is in a template, where an unknown name is left as it is written. `test` is where the script tests that the name exists, or has
 * a default for it. `stage` is a stage of a pipeline. `value` is everything else.
 */
export type UsePlace = 'text' | 'value' | 'test' | 'stage';

/** Every use has all members, so that a rule, which looks at all of them, reads objects of one shape. */
export interface Use {
  readonly name: string;
  readonly at: number;
  readonly place: UsePlace;
  /** Is undefined when the file does not declare the name before its use. */
  readonly target: Declaration | undefined;
  /** Counts the arguments of a call, the piped value included. */
  readonly argumentsPassed: number | undefined;
  /** Counts the arguments in parentheses. */
  readonly argumentsWritten: number | undefined;
  /** Is the member of `@lib.member`. */
  readonly member: Member | undefined;
  /** Is the function around the use. */
  readonly within: Declaration | undefined;
  /** Returns the declared names in scope, for suggestions. */
  readonly visible: () => readonly string[];
  /** Returns the declaration of a name in scope. */
  readonly find: (name: string) => Declaration | undefined;
  /** Tells whether a function, loop or block around the use has the name. */
  readonly isLocal: (name: string) => boolean;
}

export interface Member {
  readonly name: string;
  readonly argumentsPassed?: number | undefined;
  readonly argumentsWritten?: number | undefined;
}

/** One `@x += …`. */
export interface Change {
  readonly name: string;
  readonly at: number;
  readonly target: Declaration;
  readonly owner: 'module' | 'local';
  /** Is true for a name that is declared outside a parallel iteration around the change. */
  readonly isShared: boolean;
}

/** `branch` is an iteration of a parallel loop, `choice` a `when` that is a value. */
export type ScopeKind = 'module' | 'function' | 'block' | 'choice' | 'branch';

export class StaticScope {
  readonly names = new Map<string, Declaration>();

  constructor(
    readonly kind: ScopeKind,
    readonly parent?: StaticScope,
    /** Is the function of a function's body. */
    private readonly body?: Declaration,
  ) {}

  find(name: string): Declaration | undefined {
    return this.names.get(name) ?? this.parent?.find(name);
  }

  isLocal(name: string): boolean {
    return this.kind !== 'module' && (this.names.has(name) || this.parent?.isLocal(name) === true);
  }

  visible(): readonly string[] {
    return [...this.names.keys(), ...(this.parent?.visible() ?? [])];
  }

  /** Finds the declaration that `+=` changes. */
  findForChange(name: string, isShared = false): Pick<Change, 'target' | 'owner' | 'isShared'> | undefined {
    const target = this.names.get(name);
    if (target) return { target, owner: this.kind === 'module' ? 'module' : 'local', isShared };
    return this.parent?.findForChange(name, isShared || this.kind === 'branch');
  }

  /** Returns the function around this scope. */
  get within(): Declaration | undefined {
    return this.body ?? this.parent?.within;
  }

  /** Returns true inside a parallel iteration: loops in it without settings of their own are parallel too. */
  get isParallel(): boolean {
    return this.kind === 'branch' || ((this.kind === 'block' || this.kind === 'choice') && this.parent?.isParallel === true);
  }

  /** Returns the declaration that one of this name here may not repeat or hide. */
  clashFor({ name, kind, at, made }: Declaration): Declaration | undefined {
    const own = this.names.get(name);
    const repeats = own && own.kind !== 'implicit' && own.made === 'always' && made === 'always' && !(kind === 'let' && own.kind === 'let');
    if (repeats) return own;
    return kind === 'let' ? this.hiddenBy(name, at) : undefined;
  }

  /** Returns the name of the file below the function around this scope that a `let` of it would hide. */
  clashBelow({ name, kind, at }: Declaration, inFunction = false): Declaration | undefined {
    const found = this.names.get(name);
    if (kind !== 'let' || this.kind === 'choice') return undefined;
    if (this.kind === 'module') return inFunction && found?.made === 'always' && found.at > at ? found : undefined;
    return this.parent?.clashBelow({ name, kind, at, made: 'always' }, inFunction || this.kind === 'function');
  }

  /** A `let` may hide neither a parameter of its function nor, outside of a `choice`, a name that the module has by then. */
  private hiddenBy(name: string, at: number, inChoice = false): Declaration | undefined {
    const found = this.names.get(name);
    if (found?.kind === 'param') return found;
    if (found && this.kind === 'module' && !inChoice && found.made === 'always' && found.at < at) return found;
    return this.parent?.hiddenBy(name, at, inChoice || this.kind === 'choice');
  }
}
