/** Implements the methods that every value has, an undefined name too (values.md 10.3). */
import { kindOf } from '../kinds/kind.js';
import type { Value } from '../value.js';

export const typeChecks: { readonly [name: string]: (value: Value) => boolean } = {
  isString: (value) => kindOf(value) === 'string',
  isNumber: (value) => kindOf(value) === 'number',
  isBoolean: (value) => kindOf(value) === 'boolean',
  isNull: (value) => kindOf(value) === 'null',
  isArray: (value) => kindOf(value) === 'array',
  isObject: (value) => kindOf(value) === 'object',
  isDefined: (value) => value !== undefined && kindOf(value) !== 'null',
};
