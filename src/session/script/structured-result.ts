/** Builds the result of `--structured`. world.md 17.5. */
import type { RunState } from '../../runtime/frame.js';
import type { Module } from '../../runtime/module.js';
import type { StructuredResult } from './run-options.js';
import { toJson } from '../../values/native.js';
import { guardSourcesOf, labelsOf, taintOf, type Value } from '../../values/value.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { KeptDocument } from './document.js';

const CONTENT_UNITS = 200;

interface StructuredEffect {
  readonly type: string;
  readonly content: string;
  readonly path?: string;
  readonly security: Security;
}

interface Security {
  readonly labels: readonly string[];
  readonly taint: readonly string[];
  readonly sources: readonly string[];
}

export function structuredResult(module: Module, run: RunState, document: KeptDocument): StructuredResult {
  return {
    output: document.normalised(),
    effects: document.effects.map(({ type, content, path, value }) =>
      withoutUndefined<StructuredEffect>({ type, content: content.slice(0, CONTENT_UNITS), path, security: securityOf(value) }),
    ),
    exports: exportedNames(module),
    stateWrites: run.stateWrites.map(({ path, value, ms }, index) => ({
      path,
      value: toJson(value),
      operation: 'set',
      security: securityOf(value),
      index,
      timestamp: new Date(ms).toISOString(),
    })),
    denials: run.denials.map(({ facts }) => ({
      guard: facts.guardName,
      filter: facts.guardFilter,
      timing: facts.timing,
      reason: facts.reason,
      reasons: facts.reasons,
    })),
  };
}

function exportedNames(module: Module): string[] {
  if (!module.exports.has('*')) return [...module.exports];
  return [...module.scope.entries()].flatMap(({ name, kind }) => (kind === 'ambient' ? [] : [name]));
}

function securityOf(value: Value): Security {
  return { labels: labelsOf(value), taint: taintOf(value), sources: guardSourcesOf(value) };
}
