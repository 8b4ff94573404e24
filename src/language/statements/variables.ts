/** Declares and changes variables. values.md 3, control.md 2.3 to 2.5. */
import type { Append, Let, Var } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { frameOfRepeat, isRequestedAgain, tryOf } from '../../operation/guards/repeats.js';
import { perform } from '../../operation/perform.js';
import type { GuardTry } from '../../runtime/guard-trail.js';
import type { Operation } from '../../runtime/operation.js';
import { SECRET } from '../../runtime/secrets/secret-registry.js';
import { appendTo } from '../../values/append.js';
import { partOf } from '../../values/failures.js';
import { dataOf, flow, type Value } from '../../values/value.js';
import { withoutGuards } from '../calls/with-options.js';
import { refuseReserved } from '../expressions/ambient-variables.js';
import { Signal, type Completion, type Outcome } from '../../runtime/completion.js';
import { bound, boundOutcome } from './control-flow.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { evaluateVarLlm } from './var-llm.js';
import { siteOf } from '../../runtime/position.js';
import type { Binding } from '../../runtime/scope.js';

export async function executeVar(node: Var, frame: Frame): Promise<Completion> {
  const owner = frame.scope;
  const existing = owner.own(node.name);
  refuseReserved(node.name, frame.module, node.nameAt);
  if (existing && existing.kind !== 'ambient') throw redeclared(node.name, node.nameAt, existing, frame);
  const { value: operand, frame: guarded } = await withoutGuards(node.value, frame);
  const inside = node.labels.includes(SECRET) ? { ...guarded, secret: true as const } : guarded;
  const tries: GuardTry[] = [];
  for (;;) {
    const attempt = tries.length === 0 ? inside : frameOfRepeat(inside, tries.length + 1);
    const outcome = await declared({ ...node, value: operand }, attempt);
    // At the top level of a file there is no loop or pipeline that a control word could be for.
    if (outcome instanceof Signal && owner !== frame.module.scope) return outcome;
    const value = outcome instanceof Signal ? outcome.value : outcome;
    try {
      const result = await bind(node, value, guarded, tries);
      owner.define({ name: node.name, value: flow(result, [], node.labels), kind: 'var', at: node.nameAt });
      return undefined;
    } catch (error) {
      if (!isRequestedAgain(error)) throw error;
      tries.push(tryOf(error, tries));
    }
  }
}

/** Each value of the right side has its own operation, whose hooks see it. */
function bind(node: Var, value: Value, frame: Frame, tries: readonly GuardTry[]): Promise<Value> {
  const operation: Operation & { readonly call?: undefined; readonly llm?: undefined } = {
    kind: 'var',
    segment: `var:${node.name}`,
    name: node.name,
    labels: node.labels,
    inputs: [value],
    ...(tries.length > 0 && { repeat: { tries: [...tries], denied: () => undefined, isHooked: true as const } }),
  };
  return perform(frame, operation, async (_inner, [input]) => flow(input, [], node.labels));
}

function declared(node: Var, frame: Frame): Promise<Outcome> {
  return node.labels.includes('llm') ? evaluateVarLlm(node, frame) : boundOutcome(node.value, frame);
}

export async function executeLet(node: Let, frame: Frame): Promise<Completion> {
  refuseReserved(node.name, frame.module, node.nameAt);
  const taken = frame.scope.takenFor(node.name);
  if (taken) throw redeclared(node.name, node.nameAt, taken, frame);
  const own = frame.scope.own(node.name);
  if (own?.kind === 'var') throw redeclared(node.name, node.nameAt, own, frame);
  const outcome = await boundOutcome(node.value, frame);
  const isWord = outcome instanceof Signal;
  frame.scope.define({ name: node.name, value: isWord ? outcome.value : outcome, kind: 'let', at: node.nameAt });
  return isWord ? outcome : undefined;
}

/** Executes `@x += v`, which binds a new value to the nearest declaration of the name. */
export async function executeAppendTo(node: Append, frame: Frame): Promise<Completion> {
  const location = locationOf(frame.module, node.nameAt);
  const found = frame.scope.findForChange(node.name);
  if (!found) {
    throw new MlldError('UNKNOWN_VARIABLE', `@${node.name} += …: the variable @${node.name} does not exist`, {
      location,
      hint: `declare it first: let @${node.name} = …`,
    });
  }
  const { binding, owner, shared } = found;
  if (shared) {
    throw new MlldError(
      'PARALLEL_CHANGE',
      `@${node.name} can't be changed with += inside a parallel loop: it is declared outside the loop`,
      {
        location,
        hint: 'return the value with `=>` and use the result of the loop',
      },
    );
  }
  if (binding.kind === 'var' && owner.kind !== 'module') {
    throw new MlldError('IMMUTABLE', `@${node.name} is declared with var and can't be changed with +=`, {
      location,
      hint: 'declare it with let',
    });
  }
  const added = await bound(node.value, frame);
  try {
    owner.define({ ...binding, value: withFailures(appendTo(binding.value, added, node.name), binding.value, added, frame) });
  } catch (error) {
    if (error instanceof MlldError) error.location ??= location;
    throw error;
  }
  return undefined;
}

/** An array or object that was added to has the failures in its members, beside those that it was made of as a whole. */
function withFailures(result: Value, current: Value, added: Value, { run: { failures } }: Frame): Value {
  if (failures.isEmpty) return result;
  return typeof dataOf(result) === 'object' ? partOf(partOf(result, current), added) : failures.carryAll(result, [current, added]);
}

export function redeclared(name: string, at: number, existing: Binding, frame: Frame): MlldError {
  const where = existing.at === undefined ? '' : `, first in ${siteOf(frame.module, existing.at)}`;
  const what = existing.kind === 'param' ? 'is a parameter of this function' : `is already declared${where}`;
  return new MlldError('REDECLARED', `@${name} ${what}`, {
    location: locationOf(frame.module, at),
    hint: 'names are declared once; choose another name',
  });
}
