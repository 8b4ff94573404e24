/** The guards of a run. instrumentation.md 4.1 and 4.2. */
import type { Filter, Guard } from '../../grammar/ast.js';
import { MlldError } from '../errors.js';
import { FilterTable, filterName, functionNames, kindsOf, type Names, type Watcher } from '../hooks/filter.js';
import { interceptor } from '../hooks/interceptor.js';
import type { Interceptor } from '../runtime/definitions/definable.js';
import { locationOf } from '../runtime/errors.js';
import type { Frame } from '../runtime/frame.js';
import type { Module } from '../runtime/module.js';
import type { GuardSwitch, Operation } from '../runtime/operation.js';
import { languageNames, type Reach } from '../runtime/definitions/reachable-operations.js';
import { labelsOf } from '../values/value.js';
import { refuseBadOptions } from './allow-options.js';

export interface RegisteredGuard extends Watcher {
  /** The name, or `<unnamed-guard-N>`. */
  readonly id: string;
  readonly node: Guard;
  /** The file that declares it. */
  readonly module: Module;
  readonly interceptor: Interceptor;
}

export type Phase = 'before' | 'after';

/** A guard and its object: an input, by its data label, or a value in the text that is the input, or in a path, or the operation. */
export interface Match {
  readonly guard: RegisteredGuard;
  readonly index?: number;
  /** The place in `Operation.pieces`. */
  readonly piece?: number;
  /** The place in `Operation.path`. */
  readonly path?: number;
}

/** A stage of a pipeline, around the call of its function. */
const STAGE = 'pipeline-stage';

export class GuardRegistry {
  private readonly names = new Set<string>();
  private readonly tables = { before: new FilterTable<RegisteredGuard>(), after: new FilterTable<RegisteredGuard>() };
  private registered = 0;
  /** The guards that are looked up by the labels of values. */
  readonly byLabel: Interceptor[] = [];

  get count(): number {
    return this.registered;
  }

  /** Throws DUPLICATE_GUARD (names are unique in a run, modules included) and GUARD_OPTION. */
  register(node: Guard, { module }: Frame): void {
    const { name, filter, timing } = node;
    if (name !== undefined && this.names.has(name)) {
      throw new MlldError('DUPLICATE_GUARD', `A guard named @${name} is registered already`, {
        location: locationOf(module, node.at),
        hint: 'names of guards are unique in a run, those of imported modules included; choose another, or leave it out',
      });
    }
    refuseBadOptions(node, module);
    if (name !== undefined) this.names.add(name);
    const number = ++this.registered;
    const guard = { number, id: name ?? `<unnamed-guard-${number}>`, filter, node, module, interceptor: interceptor(node, module) };
    if (timing !== 'after') this.tables.before.add(guard);
    if (timing !== 'before') this.tables.after.add(guard);
    if (filter.kind === 'label') this.byLabel.push(guard.interceptor);
  }

  /** Returns the guards registered so far that match the operation; undefined when none does and none could match a value. */
  watching(operation: Operation): { readonly [P in Phase]: readonly RegisteredGuard[] } | undefined {
    const names = namesOf(operation);
    const before = this.tables.before.matching(names);
    // An after-guard of the call has decided for the stage as well: a result that is reused is not replaced a second time.
    const after = this.tables.after.matching(operation.kind === STAGE ? { ...names, functions: [], labels: [] } : names);
    return before.length > 0 || after.length > 0 || this.byLabel.length > 0 ? { before, after } : undefined;
  }

  /** Returns the guards that this operation, or one inside it, would consult now, in the order of registration. */
  holding(operation: Operation, reach: Reach | undefined): readonly Interceptor[] {
    const found = new Set<RegisteredGuard>();
    const own = this.watching(operation);
    for (const phase of ['before', 'after'] as const) {
      if (own) for (const { guard } of this.matching(phase, own[phase], operation, this.registered)) found.add(guard);
      if (reach) for (const guard of this.tables[phase].matching(reach)) found.add(guard);
    }
    return [...found].sort((left, right) => left.number - right.number).map((guard) => guard.interceptor);
  }

  /**
   * Says why the operation can't be performed where no guards are, once those before it have passed it: undefined where it can.
   * `inside` are the operations in its body, `labels` those of all values there.
   */
  neededBehind(operation: Operation, inside: Reach, labels: Iterable<string>): string | undefined {
    const own = this.watching(operation);
    if (own && this.matching('after', own.after, operation, this.registered).length > 0) return 'an after-guard holds for it';
    const phases = Object.values(this.tables);
    const isInside = phases.some((table) => table.matching(inside).length > 0);
    const areValuesInside = inside.operations.size > 0 && phases.some((table) => table.labelled(labels).length > 0);
    return isInside || areValuesInside ? 'guards hold for what happens inside it' : undefined;
  }

  /**
   * Returns matches in the order of evaluation: by the labels of each input, then by the operation. Guards after `count` are left out. The
   * one input of an operation that is not a call is the object of a label's guard however it matches, and only once.
   */
  matching(phase: Phase, byOperation: readonly RegisteredGuard[], operation: Operation, count: number): readonly Match[] {
    const matches: Match[] = [];
    const { call, guards, inputs, kind, trail } = operation;
    for (const { labels, ...object } of kind === STAGE && phase === 'after' ? [] : labelledIn(operation)) {
      for (const guard of this.tables[phase].labelled(labels)) if (guard.number <= count) matches.push({ guard, ...object });
    }
    for (const guard of byOperation) {
      if (guard.filter.kind !== 'label' || call || inputs.length !== 1) matches.push({ guard });
      else if (!matches.some((match) => match.guard === guard && match.index === 0 && match.piece === undefined))
        matches.push({ guard, index: 0 });
    }
    const kept = guards ? matches.filter(({ guard }) => !isSwitchedOff(guard, guards)) : matches;
    const isOutside = phase === 'before' ? kind === STAGE : kind !== 'code';
    return isOutside || !trail ? kept : kept.filter(({ guard }) => !trail.hasReplaced(guard.number, phase));
  }
}

type Labelled = { readonly labels: readonly string[] } & Pick<Match, 'index' | 'piece' | 'path'>;

/** Returns the labels of the inputs, then those of the values in a path. */
function labelledIn(operation: Operation): readonly Labelled[] {
  const { path = [] } = operation;
  return [...labelledInputs(operation), ...path.map((value, at) => ({ labels: labelsOf(value), path: at }))];
}

/** Returns the values in a text that was put together, and the text for labels that none of them has. */
function labelledInputs({ inputs, pieces }: Operation): readonly Labelled[] {
  if (!pieces) return inputs.map((input, index) => ({ labels: labelsOf(input), index }));
  const values = pieces.flatMap((piece, at) => (typeof piece === 'string' ? [] : [{ labels: labelsOf(piece.value), index: 0, piece: at }]));
  const rest = labelsOf(inputs[0]).filter((label) => !values.some(({ labels }) => labels.includes(label)));
  return [...values, { labels: rest, index: 0 }];
}

/**
 * Leaves out the labels of an iteration, which are those of its item, and those of a call without arguments: guards of a label look at
 * inputs.
 */
function namesOf(operation: Operation): Names {
  const { kind, subtype, labels, call, inputs } = operation;
  const language = call?.language ?? (kind === 'run' ? subtype : undefined);
  return {
    functions: functionNames(operation),
    operations: kind === STAGE ? [STAGE] : [...kindsOf(operation), ...labels, ...(language === undefined ? [] : languageNames(language))],
    labels: kind === 'for:iteration' || (call && inputs.length === 0) ? [] : labels,
  };
}

/** `with { guards: … }`; privileged guards can't be switched off. */
function isSwitchedOff({ node: { name, privileged } }: RegisteredGuard, guards: GuardSwitch | undefined): boolean {
  if (!guards || privileged) return false;
  if ('off' in guards) return true;
  const isNamed = (names: readonly string[]): boolean => name !== undefined && names.includes(name);
  return 'only' in guards ? !isNamed(guards.only) : isNamed(guards.except);
}

const FILTER_KINDS = { function: 'function', operation: 'operation', label: 'data' } as const;

/** Returns the filter as reasons and `@mx.guard.filter` show it: `function:open`, `operation:exe`, `data:secret`. */
export function displayFilter(filter: Filter): string {
  return `${FILTER_KINDS[filter.kind]}:${filterName(filter)}`;
}
