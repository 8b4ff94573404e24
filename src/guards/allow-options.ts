/**
 * `allow … with { addLabels, removeLabels, warning }`. instrumentation.md 3.3 and 11: only a privileged guard removes labels.
 *
 * A label is removed from the value itself; loaded files in a list keep their own.
 */
import type { Guard, GuardRule } from '../../grammar/ast.js';
import { MlldError } from '../errors.js';
import { locationOf } from '../runtime/errors.js';
import type { Frame } from '../runtime/frame.js';
import type { Module } from '../runtime/module.js';
import { textOf } from '../values/text.js';
import { annotate, dataOf, labelsOf, union, Annotated, NO_LABELS, type Value } from '../values/value.js';

/** The options of `allow` for the value that the guard lets through. */
export interface AllowOptions {
  readonly add: readonly string[];
  readonly remove: readonly string[] | 'all';
  readonly warning: string | undefined;
}

type Allow = Extract<GuardRule['action'], { kind: 'allow' }>;

const NAMES = ['addLabels', 'removeLabels', 'warning'];
const LABEL = /^[A-Za-z][\w-]*(:[A-Za-z][\w-]*)*$/;

/** Throws GUARD_OPTION for mistakes that can be found when the guard is registered. */
export function refuseBadOptions({ rules, privileged }: Guard, module: Module): void {
  for (const { action } of rules.filter((rule): rule is GuardRule => rule.kind === 'rule')) {
    for (const { name, at } of action.kind === 'allow' ? (action.options ?? []) : []) {
      const location = locationOf(module, at);
      if (!NAMES.includes(name)) {
        throw new MlldError('GUARD_OPTION', `allow … with { ${name} }: allow has no such option`, {
          location,
          hint: `the options are ${NAMES.join(', ')}`,
        });
      }
      if (name === 'removeLabels' && privileged !== true) {
        throw new MlldError('GUARD_OPTION', 'Only a privileged guard removes labels', {
          location,
          hint: 'declare it as `guard privileged @name …`, which no call can switch off',
        });
      }
    }
  }
}

export async function allowOptions({ options, modifiers }: Allow, frame: Frame): Promise<AllowOptions | undefined> {
  if (modifiers) return { ...modifiers, warning: undefined };
  if (options === undefined) return undefined;
  const read = async (name: string): Promise<Value> => {
    const option = options.find((candidate) => candidate.name === name);
    return option && frame.evaluate(option.value, frame);
  };
  const labels = async (name: string): Promise<readonly string[]> => {
    const data = dataOf(await read(name));
    if (data === undefined) return NO_LABELS;
    const list = (Array.isArray(data) ? (data as readonly Value[]) : [data]).map(dataOf);
    const bad = list.find((label) => typeof label !== 'string' || !LABEL.test(label));
    if (bad === undefined) return list as readonly string[];
    throw new MlldError('GUARD_OPTION', `${name} takes labels, not ${textOf(bad)}`, { hint: `${name}: ["pii", "net:w"]` });
  };
  const warning = await read('warning');
  return {
    add: await labels('addLabels'),
    remove: await labels('removeLabels'),
    warning: warning === undefined ? undefined : textOf(warning),
  };
}

export function relabelled(value: Value, { add, remove }: AllowOptions): Value {
  const labels = union(remove === 'all' ? NO_LABELS : labelsOf(value).filter((label) => !remove.includes(label)), add);
  return value instanceof Annotated ? value.withMetadata({ ...value.metadata, labels }) : annotate(value, { labels });
}
