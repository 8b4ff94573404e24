/**
 * Finds every declaration and every use of a name in one walk over a tree, for the rules.
 *
 * SYMBOLS-1  Statements of a file or block see the declarations above them. Bodies of functions, hooks and guards run later and see all
 *            names of the file.
 * SYMBOLS-2  Kinds of nodes without a row in the table neither declare nor use names: the walk looks into their members.
 */
import path from 'node:path';
import type {
  Append, ArrayLiteral, Binary, Block, CallStage, Checkpoint, Code, Exe, Expression, For, Guard, HolePart, Hook, Import, LeadingGroup, Let,
  LoopPart, ObjectLiteral, Options, Reference, Script, Shadow, Statement, Template, Var, When, With,
} from '../../grammar/ast.js'; // prettier-ignore
import { typeChecks } from '../values/methods/type-checks.js';
import { StaticScope, type Change, type Declaration, type Member, type Use, type UsePlace } from './static-scope.js';

export interface Symbols {
  /** Holds the names of the file, which importers may get and bodies of functions see. */
  readonly module: ReadonlyMap<string, Declaration>;
  /** Are in source order, those in bodies last. */
  readonly declarations: readonly Declaration[];
  readonly uses: readonly Use[];
  readonly changes: readonly Change[];
}

/** Functions that test that a name, file or field exists. */
const EXISTENCE_TESTS = ['exists', 'fileExists'];

export function symbolsOf(tree: Script | Template): Symbols {
  const module = new StaticScope('module');
  const pass: Pass = { declarations: [], uses: [], changes: [], later: [], module, asStatements: new WeakSet() };
  if (tree.kind === 'script') markStatements(tree.statements, pass);
  walk(tree.kind === 'script' ? tree.statements : tree.parts, module, pass);
  for (const visit of pass.later) visit();
  return { module: module.names, declarations: pass.declarations, uses: pass.uses, changes: pass.changes };
}

/** Derives the name of an import without an alias: `my-lib.mld` becomes `my_lib`. world.md 11.2. */
function nameOfNamespace({ written }: Import): string {
  const base = path.posix.basename(written).replace(/\.(mld|mlld|mld\.md|mlld\.md|md|json)$/i, '');
  return base.replace(/^@/, '').replace(/[^\p{L}\p{N}_]/gu, '_');
}

interface Pass {
  readonly declarations: Declaration[];
  readonly uses: Use[];
  readonly changes: Change[];
  /** Visit the bodies, which see all names of the file (SYMBOLS-1). */
  readonly later: (() => void)[];
  readonly module: StaticScope;
  /** Holds each `when` that is a statement: a `let` in it may not hide a name of the module. */
  readonly asStatements: WeakSet<When>;
}

function markStatements(statements: readonly Statement[], pass: Pass): void {
  for (const statement of statements) {
    if (statement.kind === 'when') pass.asStatements.add(statement);
    if (statement.kind === 'fence') markStatements(statement.statements, pass);
  }
}

interface Visited {
  readonly var: Var;
  readonly let: Let;
  readonly 'append-to': Append;
  readonly exe: Exe;
  readonly shadow: Shadow;
  readonly import: Import;
  readonly block: Block;
  readonly when: When;
  readonly for: For;
  readonly hook: Hook;
  readonly guard: Guard;
  readonly checkpoint: Checkpoint;
  readonly 'loop-part': LoopPart;
  readonly hole: HolePart;
  readonly array: ArrayLiteral;
  readonly object: ObjectLiteral;
  readonly binary: Binary;
  readonly with: With;
  readonly reference: Reference;
  readonly code: Code;
  readonly 'call-stage': CallStage;
  readonly 'leading-group': LeadingGroup;
}

type Visit<T> = (node: T, scope: StaticScope, pass: Pass) => void;

const visits: { readonly [K in keyof Visited]: Visit<Visited[K]> } = {
  var(node, scope, pass) {
    walk(node.value, scope, pass);
    declare({ name: node.name, kind: 'var', at: node.nameAt, made: 'always', value: node.value }, scope, pass);
  },
  let(node, scope, pass) {
    walk(node.value, scope, pass);
    declare({ name: node.name, kind: 'let', at: node.nameAt, made: 'always', value: node.value }, scope, pass);
  },
  'append-to'(node, scope, pass) {
    const { name, nameAt: at } = node;
    use({ name, at, place: 'value' }, scope, pass);
    walk(node.value, scope, pass);
    const changed = scope.findForChange(name);
    if (changed) pass.changes.push({ name, at, ...changed });
  },
  exe(node, scope, pass) {
    const own = declare({ name: node.name, kind: 'exe', at: node.nameAt, made: 'always', exe: node }, scope, pass);
    pass.later.push(() => {
      const inside = new StaticScope('function', pass.module, own);
      for (const { name } of node.params) declare({ name, kind: 'param', at: node.nameAt, made: 'always' }, inside, pass);
      withOptions(node.body, node.options, inside, pass);
    });
  },
  shadow(node, scope, pass) {
    for (const { name, at } of node.names) use({ name, at, place: 'value' }, scope, pass);
  },
  import(node, scope, pass) {
    walk([node.source, node.skipDirs], scope, pass);
    const bound = node.names?.map(({ name, alias, at, aliasAt = at }) => ({ name: alias ?? name, at: aliasAt })) ?? [
      { name: node.alias ?? nameOfNamespace(node), at: node.aliasAt ?? node.source.at },
    ];
    for (const { name, at } of bound) declare({ name, kind: 'import', at, made: 'always', import: node }, scope, pass);
  },
  block(node, scope, pass) {
    withOptions(node, [], scope, pass);
  },
  when(node, scope, pass) {
    walk(node.subject, scope, pass);
    const isStatement = pass.asStatements.has(node);
    const inside = new StaticScope(isStatement ? 'block' : 'choice', scope);
    for (const entry of node.entries) {
      if (entry.kind !== 'arm') {
        walk(entry, inside, pass);
        continue;
      }
      walk(entry.condition, inside, pass);
      const { action } = entry;
      if (action.kind === 'when' && isStatement) pass.asStatements.add(action);
      // values.md 3.1 and control.md 2.5: the arm of a top-level `when` declares a name of the file.
      if (action.kind === 'var' && scope.kind === 'module') {
        walk(action.value, inside, pass);
        declare({ name: action.name, kind: 'var', at: action.nameAt, made: 'sometimes' }, scope, pass);
      } else walk(action, inside, pass);
    }
  },
  for(node, scope, pass) {
    walk([node.parallel, node.source], scope, pass);
    const inside = new StaticScope(node.parallel || scope.isParallel ? 'branch' : 'block', scope);
    declareLoop(node, inside, pass);
    walk([node.filter, node.body, node.arms], inside, pass);
    walk(node.batch, scope, pass);
  },
  hook(node, _scope, pass) {
    interceptor(node, pass);
  },
  guard(node, _scope, pass) {
    interceptor(node, pass);
  },
  checkpoint(node, scope, pass) {
    walk(node.name, scope, pass);
    // `complete` is evaluated when the scope of the checkpoint ends. checkpoint-resume.md 11.2.
    pass.later.push(() => walk(node.options, scope, pass));
  },
  'loop-part'(node, scope, pass) {
    walk(node.source, scope, pass);
    const inside = new StaticScope('block', scope);
    declareLoop(node, inside, pass);
    walk(node.body, inside, pass);
  },
  hole(node, scope, pass) {
    const isHandled = node.optional === true || node.then !== undefined || node.fallback !== undefined;
    refer(node.value, isHandled ? 'test' : 'text', scope, pass);
    walk([node.pipes, node.then], scope, pass);
  },
  reference(node, scope, pass) {
    refer(node, 'value', scope, pass);
  },
  // `@x?`, `key?: @x` and `@x ?? d` handle a missing name themselves.
  array(node, scope, pass) {
    for (const { value, optional } of node.elements) operand(value, optional ? 'test' : 'value', scope, pass);
  },
  object(node, scope, pass) {
    for (const entry of node.entries) {
      if ('spread' in entry) walk(entry.spread, scope, pass);
      else operand(entry.value, entry.optional ? 'test' : 'value', scope, pass);
    }
  },
  binary(node, scope, pass) {
    operand(node.left, node.operator === '??' ? 'test' : 'value', scope, pass);
    walk(node.right, scope, pass);
  },
  with(node, scope, pass) {
    withOptions(node.value, node.options, scope, pass);
  },
  code(node, scope, pass) {
    for (const name of node.variables ?? []) use({ name, at: node.at, place: 'value' }, scope, pass);
    walk([node.text, node.directory, node.stdin], scope, pass);
  },
  'call-stage'(node, scope, pass) {
    stage(node, 1, scope, pass);
  },
  'leading-group'(node, scope, pass) {
    // Nothing is piped into its members: their arguments fill the parameters from the first. control.md 20.
    for (const member of node.group.members) {
      if (member.kind === 'call-stage') stage(member, 0, scope, pass);
      else walk(member, scope, pass);
    }
    walk([node.group.limits, node.stages], scope, pass);
  },
};

function walk(node: unknown, scope: StaticScope, pass: Pass): void {
  if (typeof node !== 'object' || node === null) return;
  if (Array.isArray(node)) {
    for (const element of node) walk(element, scope, pass);
    return;
  }
  const { kind } = node as { readonly kind?: unknown };
  if (typeof kind === 'string' && Object.hasOwn(visits, kind)) {
    // Sound because the table pairs every kind with its own node type, and no two unions of the tree share one of these kinds.
    (visits[kind as keyof Visited] as Visit<unknown>)(node, scope, pass);
    return;
  }
  for (const child of Object.values(node)) walk(child, scope, pass);
}

function declare(declaration: Declaration, scope: StaticScope, pass: Pass): Declaration {
  const clash = scope.clashFor(declaration);
  const clashBelow = clash ? undefined : scope.clashBelow(declaration);
  const complete = {
    ...declaration,
    ...(clash && { clash, ...(scope.kind !== 'module' && { isNested: true as const }) }),
    ...(clashBelow && { clashBelow }),
  };
  pass.declarations.push(complete);
  if (!clash) scope.names.set(declaration.name, complete);
  return complete;
}

type Found = Pick<Use, 'name' | 'at' | 'place'> & Partial<Pick<Use, 'argumentsPassed' | 'argumentsWritten' | 'member'>>;

function use({ name, at, place, argumentsPassed, argumentsWritten, member }: Found, scope: StaticScope, pass: Pass): void {
  pass.uses.push({
    name,
    at,
    place,
    target: scope.find(name),
    argumentsPassed,
    argumentsWritten,
    member,
    within: scope.within,
    visible: () => scope.visible(),
    find: (other) => scope.find(other),
    isLocal: (other) => scope.isLocal(other),
  });
}

function refer(node: Reference, place: UsePlace, scope: StaticScope, pass: Pass): void {
  const [first] = node.steps;
  const last = node.steps.at(-1);
  const isTest = last?.kind === 'method' && Object.hasOwn(typeChecks, last.name);
  const count = first?.kind === 'apply' ? first.args.length : undefined;
  const { name, at } = node;
  const counts = { argumentsPassed: count, argumentsWritten: count };
  use({ name, at, place: isTest ? 'test' : place, ...counts, member: memberOf(node) }, scope, pass);
  if (first?.kind === 'apply' && EXISTENCE_TESTS.includes(name)) {
    for (const arg of first.args) {
      if (arg.kind === 'reference') refer(arg, 'test', scope, pass);
      else walk(arg, scope, pass);
    }
    walk(node.steps.slice(1), scope, pass);
  } else walk(node.steps, scope, pass);
}

function memberOf({ steps: [first, second] }: Reference): Member | undefined {
  if (first?.kind === 'method') return { name: first.name, argumentsPassed: first.args.length, argumentsWritten: first.args.length };
  if (first?.kind !== 'field') return undefined;
  return second?.kind === 'apply'
    ? { name: first.name, argumentsPassed: second.args.length, argumentsWritten: second.args.length }
    : { name: first.name };
}

function operand(node: Expression, place: UsePlace, scope: StaticScope, pass: Pass): void {
  if (node.kind === 'reference') refer(node, place, scope, pass);
  else walk(node, scope, pass);
}

/** The options of a block see what it binds. control.md 3.1. */
function withOptions(node: Expression, found: Options, scope: StaticScope, pass: Pass): void {
  if (node.kind !== 'block') {
    walk(node, scope, pass);
    return options(found, scope, pass);
  }
  const inside = new StaticScope('block', scope);
  markStatements(node.statements, pass);
  walk(node.statements, inside, pass);
  options(found, inside, pass);
}

/** Skips `guards`: the names of guards look like variables but are not. instrumentation.md 4.6. */
function options(found: Options, scope: StaticScope, pass: Pass): void {
  for (const { name, value } of found) if (name !== 'guards') walk(value, scope, pass);
}

function stage(node: CallStage, piped: 0 | 1, scope: StaticScope, pass: Pass): void {
  const { name, at, args, path: fields } = node;
  const counts = { argumentsPassed: args.length + piped, argumentsWritten: args.length };
  const [field, ...further] = fields;
  const called = field === undefined ? counts : { member: { name: field, ...(further.length === 0 && counts) } };
  use({ name, at, place: 'stage', ...called }, scope, pass);
  walk(args, scope, pass);
}

function declareLoop(node: For | LoopPart, inside: StaticScope, pass: Pass): void {
  // Without a key variable the key of an object's entry has a name made of the other one. values.md 7.
  for (const name of [node.key ?? `${node.name}_key`, node.name])
    declare({ name, kind: 'loop', at: node.at, made: 'always' }, inside, pass);
}

/** Visits the body of a hook or guard, whose scope is below that of the file that declares it. instrumentation.md 4.2 and 5.5. */
function interceptor(node: Hook | Guard, pass: Pass): void {
  pass.later.push(() => {
    const inside = new StaticScope('function', pass.module);
    if (node.timing !== 'before') declare({ name: 'output', kind: 'implicit', at: node.at, made: 'always' }, inside, pass);
    if (node.kind === 'hook') walk(node.body, inside, pass);
    else walk(node.rules, new StaticScope('block', inside), pass);
  });
}
