/** Reads `meta` of a script from its tree: nothing is run. workflows-js.md 2. */
import type { Json } from '../../../journal/event.js';
import { isObject } from '../../../journal/json-object.js';
import { MlldError, type SourceLocation } from '../../errors.js';
import type { Expression, SpreadElement } from './parse-javascript.js';

export interface WorkflowMeta {
  readonly name: string;
  readonly description: string;
  /** Their titles, in the order of the list. */
  readonly phases: readonly string[];
}

type Place = (at: number) => SourceLocation;

/** Throws WORKFLOW_META_LITERAL and WORKFLOW_META_MEMBER. */
export function readMeta(node: Expression, place: Place): WorkflowMeta {
  const members = literalIn(node, place);
  const wrong = (wanted: string, at: number, hint = META_WANTED): MlldError =>
    new MlldError('WORKFLOW_META_MEMBER', `meta${wanted}`, { location: place(at), hint });
  if (!isObject(members) || node.type !== 'ObjectExpression') throw wrong(' must be an object', node.start);
  const wrongMember = (name: string, wanted: string): MlldError => {
    const found = node.properties.find((each) => 'key' in each && keyOf(each.key) === name);
    const at = found && 'value' in found ? found.value.start : node.start;
    return wrong(`.${name} must be ${wanted}`, at, name === 'phases' ? PHASES_WANTED : META_WANTED);
  };
  const text = (name: string): string => {
    const member = members[name];
    if (isText(member)) return member;
    throw wrongMember(name, 'a text that is not empty');
  };
  const { whenToUse = '', phases = [] } = members;
  if (typeof whenToUse !== 'string') throw wrongMember('whenToUse', 'a text');
  if (!Array.isArray(phases)) throw wrongMember('phases', 'a list of objects, each with a title');
  const titles = phases.map((each: Json): string => {
    const title = isObject(each) ? each['title'] : undefined;
    if (isText(title)) return title;
    throw wrongMember('phases', 'a list of objects, each with a title');
  });
  return { name: text('name'), description: text('description'), phases: titles };
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

export const META_WANTED = "write it as: export const meta = { name: 'audit', description: 'What it does' }";
const PHASES_WANTED = "write it as: phases: [{ title: 'Look' }, { title: 'Check' }]";

/** Texts, numbers, booleans, null, lists and objects, and texts joined by `+`. */
function literalIn(node: Expression | SpreadElement, place: Place): Json {
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
    default:
      throw refuse(node.start, NO_LITERALS[node.type] ?? 'an expression');
  }
}

const NO_LITERALS: { readonly [type: string]: string } = { CallExpression: 'a call', NewExpression: 'a call', SpreadElement: 'a spread' };

function keyOf(key: { readonly type: string }): string {
  const { name, value } = key as { readonly name?: string; readonly value?: unknown };
  return name ?? String(value);
}
