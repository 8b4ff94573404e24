/** What `--resume` was given, read as a selector. */
import { ReplayError } from './errors.js';
import { PREVIEW_UNITS_MAX } from './preview.js';

export type Selector =
  | { readonly kind: 'none' }
  | { readonly kind: 'function'; readonly text: string; readonly name: string; readonly site?: number; readonly prefix?: string }
  | { readonly kind: 'checkpoint'; readonly text: string; readonly name: string };

export type FunctionSelector = Selector & { readonly kind: 'function' };
export type CheckpointSelector = Selector & { readonly kind: 'checkpoint' };

const FUNCTION_TARGET =
  /^@(?<name>[\p{L}_$][\p{L}\p{N}_$-]*)(?::(?<site>\d{1,9}))?(?:\((?<quoted>(?<quote>["'`])(?<prefix>[^]*)\k<quote>)\))?$/u;
const QUOTED = /^(["'`])([^]*)\1$/;

/** `''` and undefined are a bare `--resume`. Errors: RESUME_TARGET. */
export function parseSelector(target: string | undefined): Selector {
  if (target === undefined || target === '') return { kind: 'none' };
  if (target.startsWith('@')) return functionSelector(target);
  const name = (QUOTED.exec(target)?.[2] ?? target).trim();
  if (name === '') throw malformed(target, 'the name of a checkpoint is empty');
  return { kind: 'checkpoint', text: target, name };
}

function functionSelector(text: string): FunctionSelector {
  const groups = FUNCTION_TARGET.exec(text)?.groups;
  if (groups?.name === undefined) throw malformed(text, 'it starts with @, but names no function');
  const { name, site, prefix } = groups;
  if (prefix !== undefined && prefix.length > PREVIEW_UNITS_MAX)
    throw malformed(text, `the prefix is longer than ${PREVIEW_UNITS_MAX} characters`);
  return { kind: 'function', text, name, ...(site !== undefined && { site: Number(site) }), ...(prefix !== undefined && { prefix }) };
}

function malformed(target: string, why: string): ReplayError {
  return new ReplayError('RESUME_TARGET', `can't read the target ${target} of --resume: ${why}`, {
    hint: `a target is @fn, @fn:N, @fn("prefix"), @fn:N("prefix") or the name of a checkpoint; a name that starts with @ goes in quotes: --resume '"${target}"'`,
  });
}
