/** Executes `for` as a statement and evaluates it as a value. control.md 11, instrumentation.md 5.8. */
import type { Action, For, When } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { perform } from '../../operation/perform.js';
import { aKind, kindOf } from '../../values/kinds/kind.js';
import { isTruthy } from '../../values/truth.js';
import { annotate, asElement, dataOf, flow, labelsOf, metadataOf, type Value } from '../../values/value.js';
import { Return, Signal, type Completion, type Outcome } from '../../runtime/completion.js';
import { lenient, outcomeOf, runStages } from '../../runtime/evaluator-ports.js';
import { entriesOf, type Entry } from '../../values/entries.js';
import { locationOf, undefinedVariable } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { riseFromItem } from './item-place.js';
import { parallelSettings, runParallel, type Settled } from './parallel.js';
import { siteOf } from '../../runtime/position.js';
import { Scope } from '../../runtime/scope.js';
import { showAction } from '../statements/show.js';
import { isStatement } from '../statements/statement-kinds.js';
import { valueOfAction } from '../statements/action-value.js';
import { decide } from '../statements/when.js';

/** Returns the value of one iteration or its control word; `skip` leaves the element out of the result. */
type Iterate = (entry: Entry, frame: Frame) => Promise<Outcome>;

/** Returns the array of the iteration values, in the order of the source. */
export async function evaluateFor(node: For, frame: Frame): Promise<Value> {
  const { source, entries } = await sourceOf(node, frame);
  const result = await perform(frame, operationFor(entries.length), async (inner) => {
    const outcomes = await runIterations(node, entries, inner, (_entry, body) => valueOfBody(node, body));
    return collect(outcomes, source);
  });
  return node.batch ? runStages(result, node.batch, frame) : result;
}

/** Runs the action for each element and collects nothing. A `=>` in an `if` inside leaves the function or the script. */
export async function executeFor(node: For, frame: Frame): Promise<Completion> {
  const { entries } = await sourceOf(node, frame);
  let left: Completion;
  await perform(frame, operationFor(entries.length), async (inner) => {
    await runIterations(node, entries, inner, async (_entry, body) => {
      const completion = await runBody(node, body);
      if (completion instanceof Signal) return completion;
      if (!(completion instanceof Return)) return null;
      left = completion;
      return new Signal('done', null, false);
    });
    return null;
  });
  return left;
}

function operationFor(total: number): { kind: string; segment: string; name: null; labels: []; inputs: []; total: number } {
  return { kind: 'for', segment: 'for', name: null, labels: [], inputs: [], total };
}

async function sourceOf(node: For, frame: Frame): Promise<{ source: Value; entries: Entry[] }> {
  const source = await lenient(node.source, frame);
  if (source === undefined && node.source.kind === 'reference') {
    throw undefinedVariable(node.source.name, frame.module, node.source.at, frame.scope);
  }
  const entries = entriesOf(source);
  if (!entries) {
    const kind = kindOf(source);
    throw new MlldError('NOT_ITERABLE', `for @${node.name}: the source must be an array or an object, not ${aKind(source)}`, {
      location: locationOf(frame.module, node.source.at),
      hint:
        kind === 'string'
          ? `split the text into an array first: .split("\\n")`
          : kind === 'null' || kind === 'undefined'
            ? 'if the source may be missing, write `?? []` after it'
            : undefined,
    });
  }
  warnOfNoFiles(node.name, source, node.source.at, frame);
  if (node.fields.length > 0) for (const entry of entries) requireFields(node, entry, frame);
  return { source, entries };
}

/** A loop over files that are not there does nothing, which is rarely meant. */
function warnOfNoFiles(name: string, source: Value, at: number, { run, module }: Frame): void {
  const pattern = metadataOf(source)?.unmatched;
  if (pattern !== undefined) run.warn(`for @${name}: no file matches <${pattern}>, so that the loop does nothing (${siteOf(module, at)})`);
}

/** Throws MISSING_FIELD unless each element of `for @p.name in S` has the field. */
function requireFields(node: For, entry: Entry, frame: Frame): void {
  for (const field of node.fields) {
    const data = dataOf(entry.value);
    if (typeof data !== 'object' || data === null || !Object.hasOwn(data, field)) {
      throw new MlldError('MISSING_FIELD', `for @${node.name}.${field}: element ${entry.key} has no field "${field}"`, {
        location: locationOf(frame.module, node.at),
      });
    }
  }
}

async function runIterations(node: For, entries: readonly Entry[], frame: Frame, iterate: Iterate): Promise<Settled[]> {
  if (node.parallel?.isOldForm) {
    frame.run.warn(`\`for N parallel\` is the old form of \`for parallel(N, PACE)\` (${siteOf(frame.module, node.at)})`);
  }
  const parallel = await parallelSettings(node.parallel, frame, node.at);
  const one = (entry: Entry, position: number, inside: Frame): Promise<Outcome> => iteration(node, entry, position, inside, iterate);
  if (parallel) {
    const endedBy = (error: unknown, entry: Entry, position: number): unknown =>
      riseFromItem(error, node, frame, { entry, position, total: entries.length });
    const isValue = node.batch !== undefined || !isEffectBody(node);
    return runParallel(entries, { ...parallel, name: node.name, isValue, endedBy }, frame, one);
  }
  const settled: Settled[] = [];
  for (const [position, entry] of entries.entries()) {
    const view = { index: position, total: entries.length, key: entry.key, parallel: false, batchIndex: null, batchSize: null };
    const inside = { ...frame, context: { ...frame.context, for: view } };
    const outcome = await one(entry, position, inside).catch((error: unknown) => {
      throw riseFromItem(error, node, frame, { entry, position, total: entries.length });
    });
    settled.push({ outcome });
    if (outcome instanceof Signal && outcome.word === 'done') break;
  }
  return settled;
}

function isEffectBody(node: For): boolean {
  return node.body !== undefined && isStatement(node.body);
}

/** Performs one item as an operation: scope, filter, body. */
function iteration(node: For, entry: Entry, position: number, frame: Frame, iterate: Iterate): Promise<Outcome> {
  const operation = {
    kind: 'for:iteration',
    segment: node.name,
    name: node.name,
    labels: labelsOf(entry.value),
    inputs: [entry.value],
    index: position,
  };
  return perform(frame, operation, async (inner, inputs) => {
    const scope = new Scope(frame.context.for?.parallel ? 'branch' : 'block', frame.scope);
    bind(node, { ...entry, value: inputs[0] }, scope);
    const body = { ...inner, scope };
    const passes = node.filter === undefined || isTruthy(await lenient(node.filter, { ...body, sorting: true }));
    const outcome = passes ? await iterate(entry, body) : new Signal('skip', null, false);
    const pause = frame.run.cooperativeYield.step(frame.deadline);
    if (pause) await pause;
    return outcome;
  });
}

function bind(node: For, { value, key, index }: Entry, scope: Scope): void {
  scope.define({ name: node.name, value, kind: 'loop', key, ...(index === undefined ? {} : { index }) });
  if (node.key !== undefined) scope.define({ name: node.key, value: key, kind: 'loop' });
  else if (index === undefined) scope.define({ name: `${node.name}_key`, value: key, kind: 'loop' });
}

function valueOfBody(node: For, frame: Frame): Promise<Outcome> {
  const inner: Frame = { ...frame, within: 'body' };
  return node.arms ? valueOfArms(node.arms, inner) : outcomeOfBody(node.body as Action, inner).then(orNull);
}

async function valueOfArms(arms: When, frame: Frame): Promise<Outcome> {
  const decision = await decide(arms, frame, 'item');
  return decision.kind === 'nothing' ? new Signal('skip', null, false) : decision.outcome;
}

function orNull(outcome: Outcome): Outcome {
  return outcome ?? null;
}

function outcomeOfBody(body: Action, frame: Frame): Promise<Outcome> {
  switch (body.kind) {
    case 'block':
    case 'show':
    case 'run':
      return valueOfAction(body, frame);
    case 'when':
      return outcomeOfWhen(body, frame);
    default:
      return outcomeOf(body, frame);
  }
}

async function outcomeOfWhen(body: When, frame: Frame): Promise<Outcome> {
  const decision = await decide(body, frame, 'item');
  return decision.kind === 'nothing' ? null : decision.outcome;
}

async function runBody(node: For, frame: Frame): Promise<Completion> {
  const body = node.body as Action;
  if (body.kind === 'block') {
    // A `=>` that ends the block itself is allowed and ignored; one in an `if` inside it is not.
    const last = body.statements.at(-1);
    const statements = last?.kind === 'return' ? body.statements.slice(0, -1) : body.statements;
    const completion = await frame.execute(statements, { ...frame, within: 'for' });
    if (!completion && last?.kind === 'return' && last.value) await frame.evaluate(last.value, frame);
    return completion;
  }
  if (body.kind === 'when' || body.kind === 'for' || body.kind === 'loop' || isStatement(body)) {
    return frame.execute([body], body.kind === 'when' ? { ...frame, within: 'script' } : { ...frame, within: 'for' });
  }
  return showAction(body, frame);
}

function collect(settled: readonly Settled[], source: Value): Value {
  const values: Value[] = [];
  for (const { outcome } of settled) if (!(outcome instanceof Signal)) values.push(outcome ?? null);
  return flow(annotate(values.map(asElement), {}), [source, ...values]);
}
