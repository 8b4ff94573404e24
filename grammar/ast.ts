/**
 * The tree of an mlld script: one interface per node kind, joined in `NodeTypes`.
 *
 * Every node carries `at`, the offset of its first character in the source text (UTF-16 units). Lines and columns
 * are worked out from it only when a message needs them (`locate` in `parse.ts`), because that is the expensive
 * part of a location and almost no node ever needs one. Nodes are plain JSON: a fingerprint is the tree without `at`.
 */

interface At {
  readonly at: number;
}

// ---------------------------------------------------------------- script

export type ResumeMode = 'auto' | 'manual' | 'never';

export interface Script extends At {
  readonly kind: 'script';
  readonly mode: 'strict' | 'markdown';
  /** `resume: auto` in the header, the first lines of a file. */
  readonly resume?: ResumeMode;
  /** `budget: 5usd,300calls` in the header, as it is written. */
  readonly budget?: HeaderLine;
  /** The YAML text between the two `---` lines. */
  readonly frontmatter?: { readonly at: number; readonly text: string };
  readonly statements: readonly Statement[];
}

export interface HeaderLine extends At {
  readonly value: string;
}

/** Markdown mode only: text between statements, output as it is. */
export interface Prose extends At {
  readonly kind: 'prose';
  readonly text: string;
}

/** Markdown mode only: the statements of a fence marked `mlld-run`. */
export interface RunFence extends At {
  readonly kind: 'fence';
  readonly statements: readonly Statement[];
}

// ---------------------------------------------------------------- expressions

/** A number, text, boolean or null written in the source; a single-quoted text is one, too. */
export interface Literal extends At {
  readonly kind: 'literal';
  readonly value: string | number | boolean | null;
}

/** `"…"`, `` `…` ``, `::…::`, `:::…:::`, or a template file. Escapes are already resolved in the text parts. */
export interface Template extends At {
  readonly kind: 'template';
  readonly quote: 'double' | 'backtick' | 'colon' | 'triple' | 'att' | 'mtt';
  readonly parts: readonly TemplatePart[];
}

export type TemplatePart = TextPart | HolePart | LoadPart | LoopPart | FileTextPart;

export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
}

/** A reference inside text. `written` is its source, shown when the name is not defined. */
export interface HolePart extends At {
  readonly kind: 'hole';
  readonly value: Reference;
  readonly pipes: readonly CallStage[];
  /** `!@x` */
  readonly negated?: true;
  /** `@x?`: nothing when falsy. */
  readonly optional?: true;
  /** `` @x?`part` ``: the part when truthy. */
  readonly then?: readonly TemplatePart[];
  /** `@x??"d"` */
  readonly fallback?: string;
  /**
   * In `cmd` bodies only: where the hole is in the shell line. `bare`: outside quotes, the value may be several words · `word`: outside
   * quotes where there is room for one word · `parameter`, `pattern`: in `"${…}"`, the latter behind `#` or `%` · `document`: in a
   * here-document · `number`: in arithmetic.
   */
  readonly quoting?: 'bare' | 'word' | 'double' | 'parameter' | 'pattern' | 'document' | 'number';
  /** In `cmd` bodies only: how many pairs of backquotes are around the hole. */
  readonly backquotes?: number;
  /** In `cmd` bodies only: a dollar sign before the hole, which is part of the value and not of the text. */
  readonly dollar?: true;
  readonly written: string;
}

/** `<file>` inside a template: missing files render as nothing. */
export interface LoadPart extends At {
  readonly kind: 'load-part';
  readonly load: Load;
  /** `<f.json>.name`: fields and indexes behind it. */
  readonly steps?: readonly Step[];
  readonly pipes: readonly Stage[];
}

/** `/for @x in source … /end`, only in backticks, `::…::` and `.att` files. */
export interface LoopPart extends At {
  readonly kind: 'loop-part';
  readonly key?: string;
  readonly name: string;
  readonly source: Expression;
  readonly body: readonly TemplatePart[];
}

/** `<>` and its fields (`<>.mx.filename`) in the template of an `as` clause; `path` is `['mx', 'filename']`. */
export interface FileTextPart extends At {
  readonly kind: 'file-text';
  readonly path: readonly string[];
}

export interface ArrayLiteral extends At {
  readonly kind: 'array';
  /** `optional`: `@x?`, dropped when falsy. */
  readonly elements: readonly { readonly value: Expression; readonly optional?: true }[];
}

export interface ObjectLiteral extends At {
  readonly kind: 'object';
  readonly entries: readonly (
    { readonly key: string; readonly optional?: true; readonly value: Expression } | { readonly spread: Reference }
  )[];
}

/** `@name` and everything that is chained to it. `@f(1).a[0].trim()` has the steps apply, field, index, method. */
export interface Reference extends At {
  readonly kind: 'reference';
  readonly name: string;
  readonly steps: readonly Step[];
}

/** A chain behind something that is not a name: `[3, 1].sort()`, `<f.json>.a`, a parenthesised expression never has one. */
export interface Chain extends At {
  readonly kind: 'chain';
  readonly base: Expression;
  readonly steps: readonly Step[];
}

export type Step = FieldStep | IndexStep | SliceStep | FilterStep | EachStep | MethodStep | ApplyStep;
export interface FieldStep extends At {
  readonly kind: 'field';
  readonly name: string;
}
/** `[0]`, `["key"]`, `[@i]`; a bare `[name]` is the literal key. `.7` is an index step with the literal 7. */
export interface IndexStep extends At {
  readonly kind: 'index';
  readonly index: Expression;
}
export interface SliceStep extends At {
  readonly kind: 'slice';
  readonly from?: Expression;
  readonly to?: Expression;
}
export interface FilterStep extends At {
  readonly kind: 'filter';
  readonly path: readonly string[];
  readonly operator?: '==' | '!=' | '<' | '<=' | '>' | '>=' | '~';
  readonly value?: Expression;
}
/** `[*]` */
export interface EachStep extends At {
  readonly kind: 'each';
}
/** `.name(args)`: a method of the value, or the function stored in its field. */
export interface MethodStep extends At {
  readonly kind: 'method';
  readonly name: string;
  readonly args: readonly Expression[];
}
/** `(args)` directly behind the name, or behind an index. */
export interface ApplyStep extends At {
  readonly kind: 'apply';
  readonly args: readonly Expression[];
}

/** A `/regex/flags` argument of a text method. */
export interface RegexLiteral extends At {
  readonly kind: 'regex';
  readonly source: string;
  readonly flags: string;
}

export interface Unary extends At {
  readonly kind: 'unary';
  readonly operator: '!';
  readonly operand: Expression;
}

export type BinaryOperator =
  | '+' | '-' | '*' | '/' | '%'
  | '==' | '!=' | '~=' | '!~=' | '<' | '<=' | '>' | '>='
  | '&&' | '||' | '??'; // prettier-ignore

export interface Binary extends At {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}

export interface Ternary extends At {
  readonly kind: 'ternary';
  readonly condition: Expression;
  readonly then: Expression;
  readonly otherwise: Expression;
}

/** The value that a `when VALUE [ … ]` compares, on the left in the conditions of its arms. */
export interface Subject extends At {
  readonly kind: 'subject';
}

/** `denied` in a condition: true when a guard refused something inside this function. */
export interface Denied extends At {
  readonly kind: 'denied';
}

/** `<path # section as "…">?`. Fields behind it are a `chain`, pipes a `pipeline`. */
export interface Load extends At {
  readonly kind: 'load';
  /** The path; only text and hole parts. */
  readonly path: readonly TemplatePart[];
  readonly section?: Section;
  /** A quoted `as` is a template of quote `double` whose parts are text and file-text only. */
  readonly as?: Template;
  /** `<…>?`: null when it cannot be loaded. */
  readonly optional?: true;
}

export interface Section extends At {
  /** `# ??` is 0 (all levels), `# ##??` is 2. Then `include` is empty. */
  readonly list?: number;
  readonly include: readonly SectionItem[];
  readonly exclude: readonly SectionItem[];
}
export interface SectionItem extends At {
  readonly title: readonly TemplatePart[];
  readonly optional?: true;
}

export interface Pipeline extends At {
  readonly kind: 'pipeline';
  readonly source: Expression;
  readonly stages: readonly Stage[];
}

/** `|| @f() || @g(1) | @h`: a group that needs no source, and the stages behind it. */
export interface LeadingGroup extends At {
  readonly kind: 'leading-group';
  readonly group: GroupStage;
  readonly stages: readonly Stage[];
}

export type Stage = CallStage | GroupStage | CommandStage | WhileStage | EffectStage | DataStage;
/** `@name.path(args)`. `called` is false for a name without parentheses. */
export interface CallStage extends At {
  readonly kind: 'call-stage';
  readonly name: string;
  readonly path: readonly string[];
  readonly args: readonly Expression[];
  readonly called: boolean;
}
export interface GroupStage extends At {
  readonly kind: 'group-stage';
  readonly members: readonly Stage[];
  readonly limits?: ParallelLimits;
}
export interface CommandStage extends At {
  readonly kind: 'command-stage';
  readonly code: Code;
}
export interface WhileStage extends At {
  readonly kind: 'while-stage';
  readonly cap: Expression;
  readonly pace?: Expression;
  readonly call: CallStage;
}
/** `| log`, `| show "x"`, `| output to "f"`, `| append "f"`: the value passes through. */
export interface EffectStage extends At {
  readonly kind: 'effect-stage';
  readonly effect: 'log' | 'show' | 'output' | 'append';
  readonly value?: Expression;
  readonly target?: Target;
  readonly format?: string;
}
export interface DataStage extends At {
  readonly kind: 'data-stage';
  readonly value: ObjectLiteral;
}

/** `(cap, pace)`. A duration literal is a literal of milliseconds. */
export interface ParallelLimits {
  readonly cap?: Expression;
  readonly pace?: Expression;
}

export type Language = 'cmd' | 'sh' | 'bash' | 'js' | 'node' | 'py';

/** `sh { … }`, `cmd:@dir { … }`, `js (@a, @b) { … }`, `run { … }`. `javascript` is `js`, `python` is `py`. */
export interface Code extends At {
  readonly kind: 'code';
  readonly language: Language;
  /** `cmd`: a template whose holes know how they are quoted. All others: exactly one text part. */
  readonly text: readonly TemplatePart[];
  /** The path of the working directory: text and hole parts, as written behind the colon. */
  readonly directory?: readonly TemplatePart[];
  /** `LANG (@a, @b) { … }` */
  readonly variables?: readonly string[];
  /** `@v | cmd { … }` and `with { stdin: … }` */
  readonly stdin?: Expression;
  /** `run @v | { … }` */
  readonly isRun?: true;
}

/** `stream X` as a value or body. */
export interface Stream extends At {
  readonly kind: 'stream';
  readonly value: Expression;
}

/** `X with { … }`. The option `pipeline` is not here: it becomes a `pipeline` node around the value. */
export interface With extends At {
  readonly kind: 'with';
  readonly value: Expression;
  readonly options: Options;
}
export type Options = readonly { readonly at: number; readonly name: string; readonly value: Expression }[];

export interface When extends At {
  readonly kind: 'when';
  /** `when VALUE [ … ]` */
  readonly subject?: Expression;
  /** `inline`: `when C => A`, one arm. */
  readonly form: 'inline' | 'list' | 'match';
  readonly entries: readonly WhenEntry[];
}
export type WhenEntry = WhenArm | Let | Append;
export interface WhenArm extends At {
  readonly kind: 'arm';
  /** `*` is `any`. In a match a plain pattern is already `subject == pattern`, `> 5` is `subject > 5`. */
  readonly condition: Expression | 'any' | 'none';
  readonly action: Action;
}

/** A value, a block, an effect or a control word, behind an arrow. */
export type Action = Expression | Statement;

export interface Block extends At {
  readonly kind: 'block';
  readonly statements: readonly Statement[];
}

export interface For extends At {
  readonly kind: 'for';
  /** With `isOldForm` the limits precede the word: `for 2 parallel @x in …`. */
  readonly parallel?: ParallelLimits & { readonly isOldForm?: true };
  readonly key?: string;
  readonly name: string;
  /** `for @p.name in`: fields that every element must have. */
  readonly fields: readonly string[];
  readonly source: Expression;
  readonly filter?: Expression;
  /** Exactly one of the two: a body, or the arms of `for @x in S when [ … ]`. */
  readonly body?: Action;
  readonly arms?: When;
  /** `=> | @stage`: the stages that get the collected array. */
  readonly batch?: readonly Stage[];
}

export interface Foreach extends At {
  readonly kind: 'foreach';
  /** The call whose arguments are arrays: a reference that ends in an apply or method step. */
  readonly call: Reference;
  readonly batch?: readonly Stage[];
}

export interface Loop extends At {
  readonly kind: 'loop';
  /** Absent or `endless`: no limit. */
  readonly limit?: Expression;
  readonly pace?: Expression;
  readonly until?: Expression;
  readonly body: Block;
}

/** `new @URL("…")` */
export interface New extends At {
  readonly kind: 'new';
  readonly callee: Reference;
}

/** `template "./p.att"` as the body of an `exe`. */
export interface TemplateFile extends At {
  readonly kind: 'template-file';
  readonly path: Template | Literal;
}

// ---------------------------------------------------------------- statements

export interface Var extends At {
  readonly kind: 'var';
  readonly labels: readonly string[];
  readonly name: string;
  readonly nameAt: number;
  readonly value: Expression;
}

/** Never has labels: the grammar refuses them with a hint. */
export interface Let extends At {
  readonly kind: 'let';
  readonly name: string;
  readonly nameAt: number;
  readonly value: Expression;
}

/** `@x += v` */
export interface Append extends At {
  readonly kind: 'append-to';
  readonly name: string;
  readonly nameAt: number;
  readonly value: Expression;
}

export interface Param extends At {
  readonly name: string;
  readonly type?: string;
}

export interface Exe extends At {
  readonly kind: 'exe';
  readonly labels: readonly string[];
  readonly name: string;
  readonly nameAt: number;
  readonly params: readonly Param[];
  readonly body: Expression;
  readonly options: Options;
}

/** `exe js = { f, g }` */
export interface Shadow extends At {
  readonly kind: 'shadow';
  readonly language: 'js' | 'node' | 'py';
  readonly names: readonly { readonly at: number; readonly name: string }[];
}

export interface Show extends At {
  readonly kind: 'show';
  /** The labels of the operation, as in `show secret @x`. */
  readonly labels: readonly string[];
  readonly value: Expression;
}
/** `run cmd {…}`, `run @f(x)`, `run @v | {…}`: runs it and shows the text. */
export interface Run extends At {
  readonly kind: 'run';
  /** Written without the word, in a block: its output is not shown. */
  readonly isBare?: true;
  readonly value: Expression;
}
/** A call, or a value that passes through stages, on a line of its own. */
export interface CallStatement extends At {
  readonly kind: 'call';
  readonly value: Expression;
}
export interface Log extends At {
  readonly kind: 'log';
  readonly value: Expression;
}
export interface Output extends At {
  readonly kind: 'output';
  /** Absent: the document so far. */
  readonly value?: Expression;
  readonly target: Target;
  readonly format?: string;
}
export interface AppendFile extends At {
  readonly kind: 'append';
  readonly value: Expression;
  readonly target: Target;
  readonly format?: string;
}
export type Target =
  | { readonly kind: 'stdout' | 'stderr'; readonly at: number }
  | { readonly kind: 'env'; readonly at: number; readonly name?: string }
  | { readonly kind: 'state'; readonly at: number; readonly path: readonly TemplatePart[] }
  | { readonly kind: 'file'; readonly at: number; readonly path: readonly TemplatePart[] };

/** `file "notes/a.md" = @text` */
export interface WriteFile extends At {
  readonly kind: 'file';
  readonly path: readonly TemplatePart[];
  readonly value: Expression;
}
/** `files "src/" = [ { "a.js": @a, desc: "…" } ]` */
export interface WriteFiles extends At {
  readonly kind: 'files';
  readonly path: readonly TemplatePart[];
  readonly value: Expression;
}

export interface If extends At {
  readonly kind: 'if';
  readonly condition: Expression;
  readonly then: Block;
  readonly otherwise?: Block;
}

/** `=> EXPR`, `=> label @x`; without a value only in a block. */
export interface Return extends At {
  readonly kind: 'return';
  readonly labels: readonly string[];
  readonly value?: Expression;
}

/** `pii,lot VALUE` behind an arrow. */
export interface Labelled extends At {
  readonly kind: 'labelled';
  readonly labels: readonly string[];
  readonly value: Expression;
}

/** `done V`, `continue V`, `skip`, `retry HINT`, `pass`. They can be actions and (done, continue) statements. */
export interface Control extends At {
  readonly kind: 'control';
  readonly word: 'done' | 'continue' | 'skip' | 'retry' | 'pass';
  /** Written behind an arrow: `=> skip` ends its block. */
  readonly isReturn?: true;
  readonly value?: Expression;
}

export interface Bail extends At {
  readonly kind: 'bail';
  readonly message?: Expression;
}

export type ImportType = 'static' | 'templates' | 'live' | 'cached' | 'module' | 'local';

export interface Import extends At {
  readonly kind: 'import';
  readonly type?: ImportType;
  readonly source: ImportSource;
  /** `{ @a, @b as @c }`; `{ * as @ns }` has `alias` instead. */
  readonly names?: readonly { readonly at: number; readonly name: string; readonly alias?: string; readonly aliasAt?: number }[];
  /** `as @ns` */
  readonly alias?: string;
  readonly aliasAt?: number;
  /** `as @t(p, q)` of template collections. */
  readonly params?: readonly Param[];
  readonly skipDirs?: Expression;
  /** The source as written, for messages and `@mx.op.target`. */
  readonly written: string;
}
export type ImportSource =
  /** `"./x.mld"`, `<./x.mld>`, `@root/…`, `@prefix/…`: the text with its holes; a leading `@root` is a hole. */
  | { readonly kind: 'path'; readonly at: number; readonly path: readonly TemplatePart[] }
  /** `@input`, `@stdin`, `@payload`, `@state`, `"@cfg"`, `@app/cfg`: the name with its at sign. */
  | { readonly kind: 'provided'; readonly at: number; readonly name: string }
  /** `node @package` */
  | { readonly kind: 'node'; readonly at: number; readonly package: string };

export interface Export extends At {
  readonly kind: 'export';
  /** `'*'` means everything. */
  readonly names: readonly { readonly at: number; readonly name: string }[];
}

/** `needs { sh, cmd: [git], node: [lodash] }`: what has to be installed where the file runs. */
export interface Needs extends At {
  readonly kind: 'needs';
  readonly entries: readonly NeedsEntry[];
}
export interface NeedsEntry extends At {
  readonly name: string;
  /** Missing for a bare word, such as `sh`. */
  readonly value?: NeedsValue;
}
export type NeedsValue =
  | { readonly kind: 'word'; readonly at: number; readonly text: string }
  | { readonly kind: 'list'; readonly at: number; readonly items: readonly NeedsValue[] }
  | { readonly kind: 'map'; readonly at: number; readonly entries: readonly NeedsEntry[] };

// ---------------------------------------------------------------- instrumentation

export type Filter =
  | { readonly kind: 'function'; readonly at: number; readonly path: readonly string[]; readonly prefix?: string }
  /** `op:for:iteration` has the name `for:iteration`. */
  | { readonly kind: 'operation'; readonly at: number; readonly name: string }
  | { readonly kind: 'label'; readonly at: number; readonly label: string };

export interface Hook extends At {
  readonly kind: 'hook';
  readonly name?: string;
  readonly timing: 'before' | 'after';
  readonly filter: Filter;
  readonly body: Block | When;
}

export interface Guard extends At {
  readonly kind: 'guard';
  readonly name?: string;
  readonly privileged?: true;
  readonly timing: 'before' | 'after' | 'always';
  readonly filter: Filter;
  readonly rules: readonly (GuardRule | Let)[];
}
export interface GuardRule extends At {
  readonly kind: 'rule';
  readonly condition: Expression | 'any';
  readonly action:
    | {
        readonly kind: 'allow';
        readonly at: number;
        readonly value?: Expression;
        readonly options?: Options;
        readonly modifiers?: LabelModifiers;
      }
    | { readonly kind: 'deny' | 'retry'; readonly at: number; readonly text: string };
}

/** `trusted!,!secret @output`: the labels that the value gets and loses; only in a privileged guard. */
export interface LabelModifiers {
  readonly add: readonly string[];
  readonly remove: readonly string[] | 'all';
}

export interface Checkpoint extends At {
  readonly kind: 'checkpoint';
  readonly name: Template | Literal;
  readonly options: Options;
}

// ---------------------------------------------------------------- the map

export interface ExpressionTypes {
  literal: Literal;
  template: Template;
  array: ArrayLiteral;
  object: ObjectLiteral;
  reference: Reference;
  chain: Chain;
  regex: RegexLiteral;
  unary: Unary;
  binary: Binary;
  ternary: Ternary;
  subject: Subject;
  denied: Denied;
  load: Load;
  pipeline: Pipeline;
  'leading-group': LeadingGroup;
  code: Code;
  stream: Stream;
  with: With;
  when: When;
  for: For;
  foreach: Foreach;
  loop: Loop;
  block: Block;
  new: New;
  'template-file': TemplateFile;
  labelled: Labelled;
}

export interface StatementTypes {
  prose: Prose;
  fence: RunFence;
  var: Var;
  let: Let;
  'append-to': Append;
  exe: Exe;
  shadow: Shadow;
  show: Show;
  run: Run;
  call: CallStatement;
  log: Log;
  output: Output;
  append: AppendFile;
  file: WriteFile;
  files: WriteFiles;
  if: If;
  when: When;
  for: For;
  loop: Loop;
  return: Return;
  control: Control;
  bail: Bail;
  import: Import;
  export: Export;
  needs: Needs;
  hook: Hook;
  guard: Guard;
  checkpoint: Checkpoint;
}

export type Expression = ExpressionTypes[keyof ExpressionTypes];
export type Statement = StatementTypes[keyof StatementTypes];
