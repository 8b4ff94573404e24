/** Parses the target of `--resume`. */
import { PREVIEW_UNITS_MAX } from '../fold/preview.js';

export type Selector =
  | { readonly kind: 'none' }
  /** `prefix`: from the first call on that begins with it; `exact`: the calls whose first argument it is, and nothing else. */
  | {
      readonly kind: 'function';
      readonly text: string;
      readonly name: string;
      readonly site?: number;
      readonly prefix?: string;
      readonly exact?: string;
    }
  /** The bare word `failed`: only calls without a result are executed. */
  | { readonly kind: 'failed'; readonly text: string }
  /** `text` is the path of an operation. */
  | { readonly kind: 'path'; readonly text: string }
  | { readonly kind: 'checkpoint'; readonly text: string; readonly name: string }
  /** Refused where prior runs are known, so that the message can list what could have been meant. */
  | { readonly kind: 'malformed'; readonly text: string; readonly why: string };

export type FunctionSelector = Selector & { readonly kind: 'function' };
export type PathSelector = Selector & { readonly kind: 'path' };
export type CheckpointSelector = Selector & { readonly kind: 'checkpoint' };
export type MalformedSelector = Selector & { readonly kind: 'malformed' };

const FUNCTION_TARGET =
  /^@(?<name>[\p{L}_$][\p{L}\p{N}_$-]*)(?::(?<site>\d{1,9}))?(?:\((?<exactly>\s*=\s*)?(?<quote>["'`])(?<argument>[^]*)\k<quote>\))?$/u;
/** The paths of operations begin at the run itself, `main`: `main/for#0[137]/review#0`, `main[g0]/review#0` in a parallel group. */
const PATH = /^main(?:\[\w+\])*\/[^/#]+#\d/u;
const QUOTED = /^(["'`])([^]*)\1$/;

/** `''` and undefined are a bare `--resume`. */
export function parseSelector(target: string | undefined): Selector {
  if (target === undefined || target === '') return { kind: 'none' };
  if (target.startsWith('@')) return functionSelector(target);
  if (target === 'failed') return { kind: 'failed', text: target };
  if (PATH.test(target)) return { kind: 'path', text: target };
  const name = (QUOTED.exec(target)?.[2] ?? target).trim();
  if (name === '') return malformed(target, 'the name of a checkpoint is empty');
  return { kind: 'checkpoint', text: target, name };
}

/** Returns the words of a target that names this checkpoint, whatever its name looks like: `"failed"` with its quotes. */
export function checkpointTarget(name: string): string {
  const read = parseSelector(name);
  return read.kind === 'checkpoint' && read.name === name && !name.startsWith('-') ? name : `"${name}"`;
}

function functionSelector(text: string): FunctionSelector | MalformedSelector {
  const groups = FUNCTION_TARGET.exec(text)?.groups;
  if (groups?.name === undefined) return malformed(text, 'it starts with @, but names no function');
  const { name, site, exactly, argument } = groups;
  const called = { kind: 'function', text, name, ...(site !== undefined && { site: Number(site) }) } as const;
  if (argument === undefined) return called;
  if (exactly !== undefined) return { ...called, exact: argument };
  if (argument.length > PREVIEW_UNITS_MAX) return malformed(text, `the prefix is longer than ${PREVIEW_UNITS_MAX} characters`);
  return { ...called, prefix: argument };
}

function malformed(text: string, why: string): MalformedSelector {
  return { kind: 'malformed', text, why };
}
