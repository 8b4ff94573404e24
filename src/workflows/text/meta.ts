/** Reads `meta` of a script from its tree: nothing is run. workflows-js.md 2. */
import type { Json } from '../../../journal/event.js';
import { MlldError, type SourceLocation } from '../../errors.js';
import type { Expression } from './parse-javascript.js';

export interface PhaseTitle {
  readonly title: string;
  readonly detail?: string;
  readonly model?: string;
}

export interface WorkflowMeta {
  readonly name: string;
  readonly description: string;
  readonly whenToUse?: string;
  readonly phases: readonly PhaseTitle[];
}

type Place = (at: number) => SourceLocation;

/** Throws WORKFLOW_META_LITERAL and WORKFLOW_META_MEMBER. */
export function readMeta(node: Expression, place: Place): WorkflowMeta {
  const value = literalIn(node, place);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MlldError('WORKFLOW_META_MEMBER', 'meta must be an object', { location: place(node.start), hint: META_WANTED });
  const members = value as { readonly [name: string]: Json };
  const memberPlace = (name: string): SourceLocation => {
    const found = node.type === 'ObjectExpression' ? node.properties.find((each) => 'key' in each && keyOf(each.key) === name) : undefined;
    return place(found && 'value' in found ? found.value.start : node.start);
  };
  const wrong = (name: string, wanted: string): MlldError =>
    new MlldError('WORKFLOW_META_MEMBER', `meta.${name} must be ${wanted}`, { location: memberPlace(name), hint: META_WANTED });
  const text = (name: string): string => {
    const member = members[name];
    if (typeof member !== 'string' || member.trim() === '') throw wrong(name, 'a text that is not empty');
    return member;
  };
  const { whenToUse, phases = [] } = members;
  if (whenToUse !== undefined && typeof whenToUse !== 'string') throw wrong('whenToUse', 'a text');
  if (!Array.isArray(phases)) throw wrong('phases', 'a list of { title }');
  const titles = phases.map((each: Json): PhaseTitle => {
    const { title, detail, model } = (typeof each === 'object' && each !== null ? each : {}) as { readonly [name: string]: Json };
    if (typeof title !== 'string' || title.trim() === '') throw wrong('phases', 'a list of objects, each with a title');
    return { title, ...(typeof detail === 'string' && { detail }), ...(typeof model === 'string' && { model }) };
  });
  return { name: text('name'), description: text('description'), ...(whenToUse !== undefined && { whenToUse }), phases: titles };
}

export const META_WANTED = "write it as: export const meta = { name: 'audit', description: 'What it does' }";

/** Texts, numbers, booleans, null, lists and objects, and texts joined by `+`. */
function literalIn(node: Expression, place: Place): Json {
  const refuse = (at: number, what: string): MlldError =>
    new MlldError('WORKFLOW_META_LITERAL', `meta holds ${what}, and it is read without running anything`, {
      location: place(at),
      hint: 'write the value itself there, or put what computes it into the body of the script',
    });
  switch (node.type) {
    case 'Literal':
      if (node.value === null || ['string', 'number', 'boolean'].includes(typeof node.value)) {
        if (node.regex === undefined && node.bigint === undefined) return node.value as Json;
      }
      throw refuse(node.start, 'a value that is no data');
    case 'TemplateLiteral': {
      const [hole] = node.expressions;
      if (hole) throw refuse(hole.start, 'a text with ${…}');
      return node.quasis.map(({ value }) => value.cooked ?? '').join('');
    }
    case 'UnaryExpression': {
      const value = node.operator === '-' ? literalIn(node.argument, place) : undefined;
      if (typeof value !== 'number') throw refuse(node.start, 'an expression');
      return -value;
    }
    case 'BinaryExpression': {
      if (node.operator !== '+' || node.left.type === 'PrivateIdentifier') throw refuse(node.start, 'an expression');
      const [left, right] = [literalIn(node.left, place), literalIn(node.right, place)];
      if (typeof left !== 'string' || typeof right !== 'string') throw refuse(node.start, 'a sum that is no text');
      return left + right;
    }
    case 'ParenthesizedExpression':
      return literalIn(node.expression, place);
    case 'ArrayExpression':
      return node.elements.map((element) => {
        if (element === null) throw refuse(node.start, 'a list with a gap');
        if (element.type === 'SpreadElement') throw refuse(element.start, 'a spread');
        return literalIn(element, place);
      });
    case 'ObjectExpression':
      return Object.fromEntries(
        node.properties.map((each) => {
          if (each.type === 'SpreadElement') throw refuse(each.start, 'a spread');
          if (each.computed) throw refuse(each.start, 'a computed key');
          if (each.method || each.kind !== 'init') throw refuse(each.start, 'a function');
          if (each.shorthand) throw refuse(each.start, 'a name');
          return [keyOf(each.key), literalIn(each.value, place)];
        }),
      );
    case 'Identifier':
      throw refuse(node.start, `the name ${node.name}`);
    case 'CallExpression':
    case 'NewExpression':
      throw refuse(node.start, 'a call');
    default:
      throw refuse(node.start, 'an expression');
  }
}

function keyOf(key: { readonly type: string }): string {
  const { name, value } = key as { readonly name?: string; readonly value?: unknown };
  return name ?? String(value);
}
