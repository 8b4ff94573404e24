/** Lists the rules that check one script by itself. A new rule is a file and a line here. world.md 19. */
import type { Rule } from './rule.js';
import { argumentsOfTheCallerRule } from './rules/arguments-of-the-caller.js';
import { callArityRule } from './rules/call-arity.js';
import { callOptionValuesRule } from './rules/call-option-values.js';
import { unchangeableVariablesRule } from './rules/unchangeable-variables.js';
import { checkpointNamesRule, checkpointPlacesRule } from './rules/checkpoints.js';
import { declaredBelowRule } from './rules/names/declared-below.js';
import { declaredTwiceRule, shadowedNameRule } from './rules/names/declared-twice.js';
import { deprecatedJsonRule } from './rules/deprecated-json.js';
import { codeSyntaxRule } from './rules/code-syntax.js';
import { exportedNamesRule } from './rules/names/exported-names.js';
import { hyphenatedNamesRule } from './rules/names/hyphenated-names.js';
import { importFormsRule } from './rules/import-forms.js';
import { loadedAddressesRule } from './rules/loaded-addresses.js';
import { missingArraysRule } from './rules/missing-arrays.js';
import { parameterNamesRule } from './rules/names/parameter-names.js';
import { plainValuesCalledRule } from './rules/plain-values-called.js';
import { redefinedBuiltInsRule } from './rules/names/redefined-built-ins.js';
import { reservedNamesRule } from './rules/names/reserved-names.js';
import { undefinedVariablesRule } from './rules/names/undefined-variables.js';
import { mutualRecursionRule, ownRecursionRule } from './rules/unlabelled-recursion.js';
import { unknownFilterRule } from './rules/names/unknown-filter.js';
import { unknownOptionsRule } from './rules/unknown-options.js';
import { unreachableArmsRule } from './rules/unreachable-arms.js';
import { unusedCallOptionsRule } from './rules/unused-call-options.js';

export const rules: readonly Rule[] = [
  reservedNamesRule,
  declaredTwiceRule,
  unchangeableVariablesRule,
  plainValuesCalledRule,
  ownRecursionRule,
  mutualRecursionRule,
  callOptionValuesRule,
  checkpointPlacesRule,
  checkpointNamesRule,
  importFormsRule,
  codeSyntaxRule,
  undefinedVariablesRule,
  exportedNamesRule,
  parameterNamesRule,
  deprecatedJsonRule,
  hyphenatedNamesRule,
  callArityRule,
  argumentsOfTheCallerRule,
  missingArraysRule,
  loadedAddressesRule,
  declaredBelowRule,
  shadowedNameRule,
  unknownFilterRule,
  unknownOptionsRule,
  unreachableArmsRule,
  unusedCallOptionsRule,
  redefinedBuiltInsRule,
];
