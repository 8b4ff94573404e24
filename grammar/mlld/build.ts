/** Builders for the nodes that need more than an object literal in the grammar. */
import type {
  Binary,
  BinaryOperator,
  Block,
  CallStage,
  Chain,
  Code,
  Exe,
  Expression,
  For,
  Foreach,
  GroupStage,
  Guard,
  HolePart,
  Import,
  Language,
  Literal,
  Load,
  Loop,
  Options,
  ParallelLimits,
  Param,
  Prose,
  Reference,
  ResumeMode,
  Script,
  Section,
  Stage,
  Statement,
  Step,
  Target,
  Template,
  TemplatePart,
  When,
} from '../ast.js';
import { SyntaxFailure } from '../errors.js';
import { shellOperator, type Spot } from './slips.js';

type Loose = string | TemplatePart | readonly Loose[];
interface TextRef {
  readonly at: number;
  readonly value: Reference;
  readonly pipes: readonly CallStage[];
  readonly negated?: boolean;
  readonly written: string;
}
type PlainOption = Options[number];
type RawOption = Omit<PlainOption, 'value'> & {
  readonly value: Expression | { readonly kind: 'stages'; readonly stages: readonly Stage[] };
};

// ---------------------------------------------------------------- text

/** Joins neighbouring characters to one text part each. */
export function parts(loose: readonly Loose[]): TemplatePart[] {
  const joined: TemplatePart[] = [];
  let text = '';
  const flush = () => {
    if (text) joined.push({ kind: 'text', text });
    text = '';
  };
  const add = (part: Loose) => {
    if (typeof part === 'string') text += part;
    else if (isList(part)) for (const inner of part) add(inner);
    else if (part.kind === 'text') text += part.text;
    else {
      flush();
      joined.push(part);
    }
  };
  for (const part of loose) add(part);
  flush();
  return joined;
}

function isList(part: Loose): part is readonly Loose[] {
  return Array.isArray(part);
}

export function template(at: number, quote: Template['quote'], loose: readonly Loose[]): Template {
  return { kind: 'template', at, quote, parts: parts(loose) };
}

export function control(letter: string): string {
  return { n: '\n', t: '\t', r: '\r', 0: '\0' }[letter] ?? letter;
}

export function hole(ref: TextRef, mark: Pick<HolePart, 'optional' | 'then' | 'fallback'>): HolePart {
  const { at, value, pipes, negated, written } = ref;
  return { kind: 'hole', at, value, pipes, ...(negated ? { negated: true } : {}), ...mark, written };
}

/** A reference in a path; the backslash that ended it is not part of it. */
export function pathHole(at: number, name: string, steps: readonly Step[], text: string): HolePart {
  return { kind: 'hole', at, value: { kind: 'reference', at, name, steps }, pipes: [], written: text.replace(/\\$/, '') };
}

export function commandHole(ref: TextRef, quoting: 'bare' | 'double'): HolePart {
  return { kind: 'hole', at: ref.value.at, value: ref.value, pipes: [], quoting, written: ref.written };
}

/** The parts of a path. Blanks around an unquoted one do not count. */
export function path(loose: readonly Loose[]): TemplatePart[] {
  const joined = parts(loose);
  const first = joined[0];
  if (first?.kind === 'text') joined[0] = { kind: 'text', text: first.text.trimStart() };
  const last = joined.at(-1);
  if (last?.kind === 'text') joined[joined.length - 1] = { kind: 'text', text: last.text.trimEnd() };
  return joined.filter((part) => part.kind !== 'text' || part.text !== '');
}

export function prose(items: readonly (Statement | null)[]): Statement[] {
  const joined: Statement[] = [];
  for (const item of items) {
    const last = joined.at(-1);
    if (item?.kind === 'prose' && last?.kind === 'prose') joined[joined.length - 1] = merge(last, item);
    else if (item) joined.push(item);
  }
  return joined;
}

function merge(first: Prose, second: Prose): Prose {
  return { kind: 'prose', at: first.at, text: first.text + second.text };
}

// ---------------------------------------------------------------- expressions

const precedence: Record<BinaryOperator, number> = {
  '??': 1,
  '||': 2,
  '&&': 3,
  '==': 4,
  '!=': 4,
  '~=': 4,
  '!~=': 4,
  '<': 4,
  '<=': 4,
  '>': 4,
  '>=': 4,
  '+': 5,
  '-': 5,
  '*': 6,
  '/': 6,
  '%': 6,
};

/** `a OP b OP c …` to a tree by precedence; operators of one level group to the left. */
export function operation(first: Expression, rest: readonly (readonly [BinaryOperator, Expression])[]): Expression {
  let next = 0;
  const climb = (head: Expression, level: number): Expression => {
    let left = head;
    for (let item = rest[next]; item && precedence[item[0]] >= level; item = rest[next]) {
      next++;
      const [operator, operand] = item;
      const right = climb(operand, precedence[operator] + 1);
      left = { kind: 'binary', at: left.at, operator, left, right } satisfies Binary;
    }
    return left;
  };
  return climb(first, 0);
}

/** A pattern of `when V [ … ]` as a condition on the value. */
export function comparison(at: number, operator: BinaryOperator, right: Expression): Binary {
  return { kind: 'binary', at, operator, left: { kind: 'subject', at }, right };
}

export function chain(base: Expression, steps: readonly Step[]): Expression {
  return steps.length ? ({ kind: 'chain', at: base.at, base, steps } satisfies Chain) : base;
}

export function load(at: number, loose: readonly Loose[], section: Section | null, as: Template | null, optional: string | null): Load {
  return {
    kind: 'load',
    at,
    path: path(loose),
    ...(section ? { section } : {}),
    ...(as ? { as } : {}),
    ...(optional ? { optional: true } : {}),
  };
}

/**
 * A value with its pipes and its `with` clause. `pipeline` of the clause is a pipeline, `parallel` and `delay` limit
 * the groups in it, `stdin` belongs to the command; what is left is a `with` node.
 */
export function value(head: Expression, pipes: readonly Stage[], options: readonly RawOption[]): Expression {
  const { stages, stdin, limits, others } = sortOptions(options);
  let result = head;
  let rest = pipes;
  const first = pipes[0];
  if (first?.kind === 'command-stage' && first.code.language === 'cmd') {
    result = { ...first.code, stdin: result };
    rest = pipes.slice(1);
  }
  if (stdin && result.kind === 'code') result = { ...result, stdin };
  if (result.kind === 'leading-group' && rest.length) result = { ...result, stages: [...result.stages, ...rest] };
  else if (rest.length) result = { kind: 'pipeline', at: result.at, source: result, stages: rest };
  if (stages) result = { kind: 'pipeline', at: result.at, source: result, stages: limit(stages, limits) };
  const left = stdin && head.kind !== 'code' && rest === pipes ? [...others, { at: stdin.at, name: 'stdin', value: stdin }] : others;
  return left.length ? { kind: 'with', at: result.at, value: result, options: left } : result;
}

function sortOptions(options: readonly RawOption[]) {
  let stages: readonly Stage[] | undefined;
  let stdin: Expression | undefined;
  const limits: { cap?: Expression; pace?: Expression } = {};
  const others: PlainOption[] = [];
  const grouped = options.some((option) => option.name === 'pipeline');
  for (const option of options) {
    if (option.value.kind === 'stages') {
      if (option.name === 'pipeline') stages = option.value.stages;
      else others.push({ ...option, value: asArray(option.at, option.value.stages) });
    } else if (option.name === 'stdin') stdin = option.value;
    else if (grouped && option.name === 'parallel') limits.cap = option.value;
    else if (grouped && option.name === 'delay') limits.pace = option.value;
    else others.push({ ...option, value: option.value });
  }
  return { stages, stdin, limits, others };
}

/** `[@a, @b]` reads as a list of stages; under any other option it is the array it looks like. */
function asArray(at: number, stages: readonly Stage[]): Expression {
  const element = (stage: Stage): Expression => {
    if (stage.kind === 'group-stage') return asArray(stage.at, stage.members);
    if (stage.kind !== 'call-stage') throw new Error(`a ${stage.kind} in a list of stages`);
    const steps: Step[] = stage.path.map((name) => ({ kind: 'field', at: stage.at, name }));
    if (stage.called) steps.push({ kind: 'apply', at: stage.at, args: stage.args });
    return { kind: 'reference', at: stage.at, name: stage.name, steps };
  };
  return { kind: 'array', at, elements: stages.map((stage) => ({ value: element(stage) })) };
}

function limit(stages: readonly Stage[], limits: ParallelLimits): readonly Stage[] {
  if (!limits.cap && !limits.pace) return stages;
  return stages.map((stage) => (stage.kind === 'group-stage' ? { ...stage, limits } : stage));
}

export function group(at: number, members: readonly Stage[], limits: ParallelLimits | null): GroupStage {
  return { kind: 'group-stage', at, members, ...(limits ? { limits } : {}) };
}

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

export function milliseconds(amount: number, unit: string): number {
  return amount * (unitMs[unit] ?? 1);
}

/** Does the reference end in a call? */
export function isCall(reference: Reference): boolean {
  const last = reference.steps.at(-1);
  return last?.kind === 'apply' || last?.kind === 'method';
}

// ---------------------------------------------------------------- code

export function code(
  at: number,
  language: Language,
  loose: readonly Loose[],
  directory?: readonly Loose[] | null,
  variables?: readonly string[] | null,
): Code {
  const text = parts(loose);
  return {
    kind: 'code',
    at,
    language,
    text: text.length ? text : [{ kind: 'text', text: '' }],
    ...(directory ? { directory: parts(directory) } : {}),
    ...(variables ? { variables } : {}),
  };
}

/** `run "…"`: the text is a shell line, so its holes have to know whether they stand in quotes. */
export function commandText(source: Template | Literal, spot: Spot): Code {
  if (source.kind === 'literal') return code(source.at, 'cmd', [{ kind: 'text', text: String(source.value) }]);
  let quoting: 'bare' | 'single' | 'double' = 'bare';
  const text = source.parts.map((part): TemplatePart => {
    if (part.kind === 'hole' && quoting === 'single') return { kind: 'text', text: part.written };
    if (part.kind === 'hole') return { ...part, quoting: quoting === 'double' ? 'double' : 'bare' };
    if (part.kind !== 'text') return part;
    for (let i = 0; i < part.text.length; i++) {
      const c = part.text[i];
      if (c === '\\' && quoting !== 'single') i++;
      else if (c === "'" && quoting !== 'double') quoting = quoting === 'single' ? 'bare' : 'single';
      else if (c === '"' && quoting !== 'single') quoting = quoting === 'double' ? 'bare' : 'double';
      else if (quoting === 'bare') shellOperator({ ...spot, at: source.at }, part.text.slice(i));
    }
    return part;
  });
  return code(source.at, 'cmd', text);
}

// ---------------------------------------------------------------- statements

/** The statements of a block: a return, where there is one, is the last of them. */
export function statements(at: number, list: readonly Statement[]): readonly Statement[] {
  if (list.length === 0) throw new SyntaxFailure('An empty block', { at, hint: 'a block needs at least one statement' });
  const early = list.slice(0, -1).findIndex((statement) => statement.kind === 'return');
  if (early < 0) return list;
  const behind = list[early + 1] as Statement;
  throw new SyntaxFailure('A return (`=>`) must be the last statement of its block', {
    at: behind.at,
    hint: 'put the other statements before it, or return from inside an `if`',
  });
}

/** The entries of a `when`: `none` stands behind all arms with a condition. */
export function arms(entries: When['entries']): When['entries'] {
  const first = entries.findIndex((entry) => entry.kind === 'arm' && entry.condition === 'none');
  const behind = first < 0 ? undefined : entries.slice(first).find((entry) => entry.kind === 'arm' && typeof entry.condition !== 'string');
  if (!behind) return entries;
  throw new SyntaxFailure('`none` must be the last arm of a `when`', {
    at: entries[first]?.at ?? 0,
    hint: 'it matches when no other arm did',
  });
}

type Binding = { readonly key?: string; readonly name: string; readonly fields: readonly string[] };
type Body = Pick<For, 'filter' | 'body' | 'arms' | 'batch'>;

export function loopOver(at: number, parallel: ParallelLimits | null, binding: Binding, source: Expression, body: Body): For {
  return { kind: 'for', at, ...(parallel ? { parallel } : {}), ...binding, source, ...body };
}

export function foreach(at: number, call: Reference, batch: readonly Stage[] | null): Foreach {
  if (!isCall(call)) {
    throw new SyntaxFailure(`\`foreach\` needs a call with arrays, as in \`foreach @${call.name}(@list)\``, { at: call.at });
  }
  return { kind: 'foreach', at, call, ...(batch ? { batch } : {}) };
}

export function loop(at: number, header: Pick<Loop, 'limit' | 'pace'> | null, until: Expression | null, body: Block): Loop {
  const returned = body.statements.find((statement) => statement.kind === 'return');
  if (returned) {
    throw new SyntaxFailure('A loop block has no return (`=>`)', { at: returned.at, hint: 'end the loop with a value by `done VALUE`' });
  }
  return { kind: 'loop', at, ...header, ...(until ? { until } : {}), body };
}

export function executable(
  at: number,
  labels: readonly string[],
  name: string,
  nameAt: number,
  params: readonly Param[],
  body: Expression,
  pipes: readonly Stage[],
  options: readonly RawOption[],
): Exe {
  const whole = value(body, pipes, options);
  if (whole.kind !== 'with') return { kind: 'exe', at, labels, name, nameAt, params, body: whole, options: [] };
  return { kind: 'exe', at, labels, name, nameAt, params, body: whole.value, options: whole.options };
}

type SourceText = { readonly source: Import['source']; readonly written: string };

export function imports(at: number, type: Import['type'] | null, { source, written }: SourceText, rest: Partial<Import>): Import {
  return { kind: 'import', at, ...(type ? { type } : {}), source, ...rest, written };
}

/** A quoted target: a file, or a place in the state. */
export function fileTarget(name: Template | Literal): Extract<Target, { path: readonly TemplatePart[] }> {
  const written = name.kind === 'template' ? name.parts : parts([String(name.value)]);
  const first = written[0];
  const scheme = 'state://';
  if (first?.kind !== 'text' || !first.text.startsWith(scheme)) return { kind: 'file', at: name.at, path: written };
  return { kind: 'state', at: name.at, path: parts([first.text.slice(scheme.length), ...written.slice(1)]) };
}

type GuardParts = Pick<Guard, 'timing' | 'filter' | 'rules'> & { readonly name: string | null; readonly privileged: boolean };

export function guard(at: number, { name, privileged, timing, filter, rules }: GuardParts, options: Options): Guard {
  const marked =
    privileged || options.some((option) => option.name === 'privileged' && option.value.kind === 'literal' && option.value.value === true);
  return { kind: 'guard', at, ...(name ? { name } : {}), ...(marked ? { privileged: true } : {}), timing, filter, rules };
}

export function script(
  mode: Script['mode'],
  resume: ResumeMode | null,
  frontmatter: Script['frontmatter'] | null,
  body: readonly Statement[],
): Script {
  return { kind: 'script', at: 0, mode, ...(resume ? { resume } : {}), ...(frontmatter ? { frontmatter } : {}), statements: body };
}
