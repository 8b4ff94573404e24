/**
 * Checks the options of functions about their calls whose values are written in the source, before anything runs. calls.md 11.1, 20.
 *
 * A value that a variable or an argument decides is checked when it is evaluated (`call-options.ts`).
 */
import type { Exe, Expression, Script, Statement } from '../../../grammar/ast.js';
import { closest } from '../../../grammar/closest.js';
import type { Json } from '../../../journal/event.js';
import { parseBudget } from '../../calls/budget/limits.js';
import { refusedValue } from '../../calls/option-values.js';
import { MlldError } from '../../errors.js';
import type { Module } from '../../runtime/module.js';

export interface RefusedOption {
  readonly code: 'CALL_OPTION' | 'BUDGET';
  /** The place of the value. */
  readonly at: number;
  readonly message: string;
  readonly hint: string;
}

/** Throws CALL_OPTION or BUDGET for the first value that its option does not take. */
export function refuseWrittenOptions(script: Script, { display, text }: Pick<Module, 'display' | 'text'>): void {
  for (const { code, message, at, hint } of refusedOptions(script)) {
    throw new MlldError(code, message, { location: { file: display, at, text }, hint });
  }
}

export function* refusedOptions(script: Script): Generator<RefusedOption> {
  const { budget } = script;
  if (budget !== undefined) yield* refusedBudget(budget);
  for (const exe of functionsIn(script.statements)) {
    for (const { name, value } of exe.options) {
      const written = writtenData(value);
      const refused = written === undefined ? undefined : refusedValue(name, written);
      if (refused) yield { code: 'CALL_OPTION', at: value.at, message: refusalOf(name, written), hint: hintOf(name, written, refused) };
    }
  }
}

function* refusedBudget({ value, at }: NonNullable<Script['budget']>): Generator<RefusedOption> {
  try {
    parseBudget(value, 'budget');
  } catch (error) {
    if (!(error instanceof MlldError)) throw error;
    yield { code: 'BUDGET', at, message: error.message, hint: error.hint ?? 'budget: 5usd,2Mtok,300calls,3h' };
  }
}

function refusalOf(name: string, value: unknown): string {
  return `The option ${name} is ${JSON.stringify(value)}, which it does not take`;
}

function hintOf(name: string, written: Json | undefined, { wanted, words }: NonNullable<ReturnType<typeof refusedValue>>): string {
  const near = words && typeof written === 'string' ? closest(written, words) : undefined;
  return `${near === undefined ? '' : `did you mean "${near}"? `}${name} takes ${wanted}`;
}

/** True when every call has the same options, because their values are written in the source. */
export function hasWrittenOptions({ options }: Pick<Exe, 'options'>): boolean {
  return options.every(({ value }) => writtenData(value) !== undefined);
}

/** Returns the value that the source has; undefined where only a run can tell. */
function writtenData(node: Expression): Json | undefined {
  switch (node.kind) {
    case 'literal':
      return node.value;
    case 'template':
      return node.parts.every((part) => part.kind === 'text') ? node.parts.map((part) => part.text).join('') : undefined;
    case 'array': {
      const elements = node.elements.map(({ value }) => writtenData(value));
      return elements.some((element) => element === undefined) ? undefined : (elements as Json[]);
    }
    case 'object': {
      const members: [string, Json][] = [];
      for (const entry of node.entries) {
        const value = 'spread' in entry ? undefined : writtenData(entry.value);
        if ('spread' in entry || value === undefined) return undefined;
        members.push([entry.key, value]);
      }
      return Object.fromEntries(members);
    }
    default:
      return undefined;
  }
}

/** Functions are declared at the top level alone, in Markdown inside a fence. */
function* functionsIn(statements: readonly Statement[]): Generator<Exe> {
  for (const statement of statements) {
    if (statement.kind === 'exe') yield statement;
    else if (statement.kind === 'fence') yield* functionsIn(statement.statements);
  }
}
