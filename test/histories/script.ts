/**
 * Scripts as data: small enough to shrink, rich enough for every rule of checkpoint and resume. All of them have the same functions, whose
 * bodies vary; what differs is the list of parts at the top level. `render.ts` writes them as mlld, `interpret.ts` says what they mean.
 */

export type Literal = string | number | boolean | null;

/** The first argument of a call. */
export type Argument =
  | { readonly kind: 'literal'; readonly value: Literal }
  /** The result of the nearest part above that has one. */
  | { readonly kind: 'earlier' }
  | { readonly kind: 'answer'; readonly of: Argument & { readonly kind: 'literal' } };

/** Functions that make one call; `grade` and `poll` also take a model. */
export type Asker = 'ask' | 'grade' | 'poll' | 'review' | 'outer' | 'round' | 'scan';
export type Model = 'small' | 'large';

export type Call =
  | { readonly kind: 'asker'; readonly fn: Asker; readonly question: Argument; readonly model: Model }
  | { readonly kind: 'survey'; readonly items: readonly Literal[] };

/** Items at once; `sequential` is a loop that is not parallel at all. */
export type Width = 'sequential' | 1 | 2 | 3;

export type Part =
  | { readonly kind: 'value'; readonly call: Call }
  /** `var llm`: the call is an llm invocation whatever its function is. */
  | { readonly kind: 'labelled'; readonly fn: 'ask' | 'poll'; readonly question: Argument; readonly model: Model }
  | { readonly kind: 'show'; readonly call: Call }
  | { readonly kind: 'run'; readonly question: Argument }
  | { readonly kind: 'piped'; readonly fn: 'ask' | 'grade'; readonly text: string; readonly model: Model }
  | { readonly kind: 'retried'; readonly text: string }
  | { readonly kind: 'each'; readonly items: readonly Literal[]; readonly fn: Asker }
  | {
      readonly kind: 'gathered';
      readonly items: readonly Literal[];
      readonly fn: 'ask' | 'grade' | 'review' | 'outer';
      readonly width: Width;
    }
  | { readonly kind: 'checkpoint'; readonly name: string; readonly form: 'plain' | 'taken' | 'not taken' };

/** The current text of the functions. */
export interface Functions {
  /** Part of the result of `@ask`, and of its body. */
  readonly edition: number;
  readonly askName: 'ask' | 'inquire';
  readonly surveyName: 'survey' | 'tour';
  readonly isPollLlm: boolean;
  readonly reviewer: 'ask' | 'poll';
  readonly reviewModel: Model;
  readonly surveyAsks: 'ask' | 'review' | 'outer';
  readonly surveyWidth: Width;
  readonly surveyPrefix: '' | 'Please ';
  readonly surveyEdges: boolean;
}

export type Header = 'auto' | 'manual' | 'never';

export interface Script {
  readonly header: Header | undefined;
  readonly functions: Functions;
  readonly parts: readonly Part[];
}

/** `lib.mld`, imported by every script. Its ordinary `@scan` calls a function with a name of its own or that of the script's `@ask`. */
export interface Library {
  readonly asker: 'ask' | 'probe';
  readonly checkpoint: string | undefined;
}

export type Edit =
  | { readonly kind: 'insert'; readonly at: number; readonly part: Part }
  | { readonly kind: 'remove'; readonly at: number }
  | { readonly kind: 'move'; readonly at: number; readonly to: number }
  | { readonly kind: 'replace'; readonly at: number; readonly part: Part }
  | { readonly kind: 'functions'; readonly change: Partial<Functions> }
  | { readonly kind: 'header'; readonly header: Header | undefined };

/** `@again` wants so many further drafts. */
export const DRAFTS = 3;

/** Places are taken modulo what is there, so that every edit of every script is legal. */
export function edited(script: Script, edits: readonly Edit[]): Script {
  return edits.reduce(editedOnce, script);
}

function editedOnce(script: Script, edit: Edit): Script {
  const { parts } = script;
  switch (edit.kind) {
    case 'functions':
      return { ...script, functions: { ...script.functions, ...edit.change } };
    case 'header':
      return { ...script, header: edit.header };
    case 'insert': {
      const at = edit.at % (parts.length + 1);
      return { ...script, parts: [...parts.slice(0, at), edit.part, ...parts.slice(at)] };
    }
    default: {
      if (parts.length === 0) return script;
      const at = edit.at % parts.length;
      const others = parts.filter((_, index) => index !== at);
      if (edit.kind === 'remove') return { ...script, parts: others };
      if (edit.kind === 'replace') return { ...script, parts: parts.map((part, index) => (index === at ? edit.part : part)) };
      const to = edit.to % parts.length;
      return { ...script, parts: [...others.slice(0, to), parts[at] as Part, ...others.slice(to)] };
    }
  }
}

/** True for a part with a value that `earlier` may name. */
export function givesValue({ kind }: Part): boolean {
  return kind === 'value' || kind === 'labelled' || kind === 'piped' || kind === 'retried' || kind === 'gathered';
}
