/** Builds expressions: operators by precedence, and a value with everything that may follow it. */
import type {
  Binary,
  BinaryOperator,
  Block,
  CallStage,
  Chain,
  Expression,
  GroupStage,
  LeadingGroup,
  Load,
  Options,
  ParallelLimits,
  Reference,
  Section,
  Stage,
  Step,
  Template,
} from '../../ast.js';
import { SyntaxFailure } from '../../errors.js';
import { type Loose, path } from './text.js';

type PlainOption = Options[number];
export type RawOption = Omit<PlainOption, 'value'> & {
  readonly value: Expression | { readonly kind: 'stages'; readonly stages: readonly Stage[] };
};

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

/** The tree of `a + b + c …` is as deep as it has operators, and whatever walks it recurses: this many are far from a stack overflow. */
const OPERATORS_MAX = 1000;

/** Turns `a OP b OP c …` into a tree by precedence; operators of one level group to the left. */
export function operation(first: Expression, rest: readonly (readonly [BinaryOperator, Expression])[]): Expression {
  if (rest.length > OPERATORS_MAX) throw tooManyOperators(first.at);
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

/** Builds `!!x`, with any number of negations. */
export function negation(at: number, count: number, operand: Expression): Expression {
  if (count > OPERATORS_MAX) throw tooManyOperators(at);
  let negated = operand;
  for (let place = at + count - 1; place >= at; place--) negated = { kind: 'unary', at: place, operator: '!', operand: negated };
  return negated;
}

function tooManyOperators(at: number): SyntaxFailure {
  return new SyntaxFailure(`The source is nested too deeply: more than ${OPERATORS_MAX} operators in one expression`, {
    code: 'NESTED_TOO_DEEPLY',
    at,
    hint: 'bind inner parts to variables',
  });
}

/** Turns a pattern of `when V [ … ]` into a condition on the value. */
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
export function value(head: Expression, pipes: readonly Stage[], options: readonly RawOption[], form?: 'run'): Expression {
  const { stages, stdin, limits, others } = sortOptions(options);
  let result = head;
  let rest = pipes;
  const first = pipes[0];
  if (first?.kind === 'command-stage' && first.code.language === 'cmd') {
    result = { ...first.code, stdin: result, ...(form && { isRun: true }) };
    rest = pipes.slice(1);
  }
  if (stdin && result.kind === 'code') result = { ...result, stdin };
  if (result.kind === 'leading-group' && rest.length) result = { ...result, stages: [...result.stages, ...rest] };
  else if (rest.length) result = { kind: 'pipeline', at: result.at, source: result, stages: rest };
  if (stages) result = { kind: 'pipeline', at: result.at, source: result, stages: limit(stages, limits) };
  const left = stdin && head.kind !== 'code' && rest === pipes ? [...others, { at: stdin.at, name: 'stdin', value: stdin }] : others;
  return left.length ? { kind: 'with', at: result.at, value: result, options: left } : result;
}

/** Builds a block with what follows it. Its options are its own and see what it binds; only `guards` covers the stages, too. */
export function valueBlock(block: Block, pipes: readonly Stage[], options: readonly RawOption[]): Expression {
  const own = sortOptions(options).others.filter(({ name }) => name !== 'guards');
  const head: Expression = own.length > 0 ? { kind: 'with', at: block.at, value: block, options: own } : block;
  const others = options.filter(({ name }) => own.every((option) => option.name !== name));
  return value(head, pipes, others);
}

function sortOptions(options: readonly RawOption[]) {
  let stages: readonly Stage[] | undefined;
  let stdin: Expression | undefined;
  const limits: { cap?: Expression; pace?: Expression } = {};
  const others: PlainOption[] = [];
  const grouped = options.some((option) => option.name === 'pipeline');
  for (const option of options) {
    if (option.value.kind === 'stages') stages = option.value.stages;
    else if (option.name === 'stdin') stdin = option.value;
    else if (grouped && option.name === 'parallel') limits.cap = option.value;
    else if (grouped && option.name === 'delay') limits.pace = option.value;
    else others.push({ ...option, value: option.value });
  }
  return { stages, stdin, limits, others };
}

function limit(stages: readonly Stage[], limits: ParallelLimits): readonly Stage[] {
  if (!limits.cap && !limits.pace) return stages;
  return stages.map((stage) => (stage.kind === 'group-stage' ? { ...stage, limits } : stage));
}

/** Builds `stream @a() || stream @b()`: the calls run at the same time, and each shows its output while it runs. */
export function streamGroup(
  at: number,
  calls: readonly CallStage[],
  limits: ParallelLimits | null,
  pipes: readonly Stage[],
  options: readonly RawOption[],
): Expression {
  const together: LeadingGroup = { kind: 'leading-group', at, group: group(at, calls, limits), stages: [] };
  return value({ kind: 'stream', at, value: together }, pipes, options);
}

export function group(at: number, members: readonly Stage[], limits: ParallelLimits | null): GroupStage {
  return { kind: 'group-stage', at, members, ...(limits ? { limits } : {}) };
}

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

export function milliseconds(amount: number, unit: string): number {
  return amount * (unitMs[unit] ?? 1);
}

/** True where a value passes through stages, written with bars or as an option. */
export function isPiped(pipes: readonly Stage[] | null, options: readonly RawOption[] | null): boolean {
  return pipes !== null || (options ?? []).some(({ value: { kind } }) => kind === 'stages');
}

/** True when the reference ends in a call. */
export function isCall(reference: Reference): boolean {
  const last = reference.steps.at(-1);
  return last?.kind === 'apply' || last?.kind === 'method';
}
