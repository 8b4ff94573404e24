/** Reads the options of a script's checkpoints from its text, for a plan, which does not run the script. */
import type { Checkpoint, Expression, Script } from '../../../grammar/ast.js';
import type { ResumeMode, Scope } from '../../../replay/memo/policy.js';
import { placedCheckpoints, writtenName } from '../../language/statements/checkpoint-positions.js';
import { parseDuration } from '../../values/durations.js';

/** Returns scopes by name. Leaves out checkpoints with a computed name or option: only a run knows those. */
export function writtenScopes(script: Script): ReadonlyMap<string, Scope> {
  const scopes = new Map<string, Scope>();
  for (const checkpoint of placedCheckpoints(script)) {
    const name = writtenName(checkpoint);
    const scope = name === undefined ? undefined : scopeOf(name, checkpoint);
    if (scope !== undefined) scopes.set(scope.name, scope);
  }
  return scopes;
}

function scopeOf(name: string, { options }: Checkpoint): Scope | undefined {
  let scope: Scope = { name };
  for (const { name: option, value } of options) {
    if (option === 'complete') {
      scope = { ...scope, complete: true };
      continue;
    }
    const text = writtenText(value);
    const ttlMs = option === 'ttl' && text !== undefined ? parseDuration(text) : undefined;
    const mode = option === 'resume' ? modeOf(text) : undefined;
    if (ttlMs === undefined && mode === undefined) return undefined;
    scope = ttlMs === undefined ? { ...scope, resume: mode } : { ...scope, ttlMs };
  }
  return scope;
}

function writtenText(value: Expression): string | undefined {
  if (value.kind === 'literal') return String(value.value);
  if (value.kind !== 'template') return undefined;
  return value.parts.every((part) => part.kind === 'text') ? value.parts.map(({ text }) => text).join('') : undefined;
}

function modeOf(text: string | undefined): ResumeMode | undefined {
  const mode = text?.toLowerCase();
  return mode === 'auto' || mode === 'manual' || mode === 'never' ? mode : undefined;
}
