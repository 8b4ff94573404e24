/** Names as a reader of the source sees them: who declares what where, and who uses it. control.md 6, values.md 3. */
import type { Exe, Expression, Import } from '../../grammar/ast.js';

export type DeclarationKind = 'var' | 'let' | 'exe' | 'import' | 'param' | 'loop' | 'implicit';

export interface Declaration {
  readonly name: string;
  readonly kind: DeclarationKind;
  readonly at: number;
  /** Whether it is made whenever its block runs; the `var` of a `when` arm is made by one arm of several. */
  readonly made: 'always' | 'sometimes';
  readonly exe?: Exe;
  /** What a `var` or `let` is bound to, where that is sure. */
  readonly value?: Expression;
  readonly import?: Import;
  /** The name was taken in this scope, so that a run refuses this declaration. */
  readonly clash?: Declaration;
}

/**
 * `text`: in a template, where an unknown name stays as it is written. `test`: where the script asks whether it exists,
 * or says what happens without it. `stage`: a pipe stage. `value`: everything else.
 */
export type UsePlace = 'text' | 'value' | 'test' | 'stage';

export interface Use {
  readonly name: string;
  readonly at: number;
  readonly place: UsePlace;
  /** Absent when nothing of the file declares it before it is needed. */
  readonly target?: Declaration;
  /** How many arguments a call by this name hands over, the piped value included, and how many of them are written. */
  readonly argumentsPassed?: number;
  readonly argumentsWritten?: number;
  /** `@lib.member`, with the number of arguments where it is called. */
  readonly member?: Member;
  /** The function whose body it stands in. */
  readonly within?: Declaration;
  /** Declared names that could be meant. */
  readonly visible: () => readonly string[];
}

export interface Member {
  readonly name: string;
  readonly argumentsPassed?: number;
  readonly argumentsWritten?: number;
}

/** `@x += …` */
export interface Change {
  readonly name: string;
  readonly at: number;
  readonly target: Declaration;
  /** Whether the name belongs to the module, or to a function or block. */
  readonly owner: 'module' | 'local';
  /** Whether it lies beyond an iteration that runs beside others. */
  readonly isShared: boolean;
}

/** `branch`: an iteration that runs beside others. */
export type ScopeKind = 'module' | 'function' | 'block' | 'branch';

export class StaticScope {
  readonly names = new Map<string, Declaration>();

  constructor(
    readonly kind: ScopeKind,
    readonly parent?: StaticScope,
    /** The function whose body this is. */
    private readonly body?: Declaration,
  ) {}

  find(name: string): Declaration | undefined {
    return this.names.get(name) ?? this.parent?.find(name);
  }

  visible(): readonly string[] {
    return [...this.names.keys(), ...(this.parent?.visible() ?? [])];
  }

  /** What `+=` changes. */
  findForChange(name: string, isShared = false): Pick<Change, 'target' | 'owner' | 'isShared'> | undefined {
    const target = this.names.get(name);
    if (target) return { target, owner: this.kind === 'module' ? 'module' : 'local', isShared };
    return this.parent?.findForChange(name, isShared || this.kind === 'branch');
  }

  /** The function around. */
  get within(): Declaration | undefined {
    return this.body ?? this.parent?.within;
  }

  /** Whether an iteration that runs beside others is around: a loop in it that says nothing does as it does. */
  get isParallel(): boolean {
    return this.kind === 'branch' || (this.kind === 'block' && this.parent?.isParallel === true);
  }

  /** What a declaration of this name here unlawfully repeats or hides. */
  clashFor({ name, kind, at, made }: Declaration): Declaration | undefined {
    const own = this.names.get(name);
    const repeats = own && own.kind !== 'implicit' && own.made === 'always' && made === 'always' && !(kind === 'let' && own.kind === 'let');
    if (repeats) return own;
    return kind === 'let' ? this.hiddenBy(name, at) : undefined;
  }

  /** A `let` may hide neither a parameter of its function nor a name that the module has by then. */
  private hiddenBy(name: string, at: number): Declaration | undefined {
    const found = this.names.get(name);
    if (found?.kind === 'param') return found;
    if (found && this.kind === 'module' && found.made === 'always' && found.at < at) return found;
    return this.parent?.hiddenBy(name, at);
  }
}
