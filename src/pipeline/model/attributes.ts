/** Lists the attributes that mlld reads, with the types of their values. Other keys are kept and have no effect. */
import { isLikeOption } from '../../calls/backends/program.js';

/** Reads the text of a value. A quoted string may hold a literal of any type: `max_retries="3"`. */
export interface AttributeType<T> {
  /** Names the type in messages: `a whole number from 1`. */
  readonly name: string;
  /** Returns undefined when the text is outside the type or its range. */
  read(text: string): T | undefined;
  /** True when an empty text counts as unset. */
  readonly mayBeEmpty: boolean;
}

type Table = { readonly [key: string]: AttributeType<string | number | boolean | readonly string[]> };
export type ValueOf<T> = T extends AttributeType<infer V> ? V : never;

const EFFORTS = ['low', 'medium', 'high'] as const;
const JOIN_POLICIES = ['wait_all', 'first_success', 'k_of_n', 'quorum'] as const;
const ERROR_POLICIES = ['continue', 'fail_fast', 'ignore'] as const;
const RETRY_POLICIES = ['none', 'standard', 'aggressive', 'linear', 'patient'] as const;
export const FIDELITY_MODES = ['full', 'truncate', 'compact', 'summary:low', 'summary:medium', 'summary:high'] as const;

export type JoinPolicy = (typeof JOIN_POLICIES)[number];
export type ErrorPolicy = (typeof ERROR_POLICIES)[number];
export type Effort = (typeof EFFORTS)[number];
export type FidelityMode = (typeof FIDELITY_MODES)[number];

const text: AttributeType<string> = { name: 'a text', read: (written) => written, mayBeEmpty: true };
/** It becomes a word of a program's command line. */
const word: AttributeType<string> = {
  name: 'a text that does not begin with "-"',
  read: (written) => (isLikeOption(written) ? undefined : written),
  mayBeEmpty: true,
};
const tools: AttributeType<readonly string[]> = {
  name: 'names of tools that do not begin with "-"',
  read(written) {
    const names = toolsIn(written);
    return names.some(isLikeOption) ? undefined : names;
  },
  mayBeEmpty: true,
};
const boolean: AttributeType<boolean> = {
  name: 'true or false',
  read: (written) => (written === 'true' ? true : written === 'false' ? false : undefined),
  mayBeEmpty: false,
};
const factor: AttributeType<number> = {
  name: 'a number that is not negative',
  read: (written) => (/^(?:\d*\.)?\d+$/.test(written) ? Number(written) : undefined),
  mayBeEmpty: false,
};
/** Returns milliseconds. */
const duration: AttributeType<number> = { name: 'a duration above zero, like 90s', read: milliseconds, mayBeEmpty: false };

export const GRAPH_ATTRIBUTES = {
  goal: text,
  label: text,
  model_stylesheet: text,
  llm_model: word,
  llm_provider: word,
  reasoning_effort: oneOf(EFFORTS),
  default_max_retries: integer({ min: 0 }),
  /** The old name of `default_max_retries`, which wins when both are there. */
  default_max_retry: integer({ min: 0 }),
  default_retry_policy: oneOf(RETRY_POLICIES),
  retry_target: text,
  fallback_retry_target: text,
  default_fidelity: text,
  default_thread_id: text,
  backend: text,
  tools,
  /** Keys of `--set` whose values are secret, separated by commas. */
  secrets: text,
  max_jumps: integer({ min: 0 }),
  max_steps: integer({ min: 1 }),
  'stack.child_dotfile': text,
  'stack.child_workdir': text,
  'tool_hooks.pre': text,
  'tool_hooks.post': text,
} satisfies Table;

export const NODE_ATTRIBUTES = {
  label: text,
  shape: text,
  type: text,
  prompt: text,
  class: text,
  max_retries: integer({ min: 0 }),
  retry_policy: oneOf(RETRY_POLICIES),
  retry_delay: duration,
  retry_factor: factor,
  retry_max_delay: duration,
  retry_jitter: boolean,
  goal_gate: boolean,
  retry_target: text,
  fallback_retry_target: text,
  allow_partial: boolean,
  auto_status: boolean,
  timeout: duration,
  fidelity: text,
  thread_id: text,
  llm_model: word,
  llm_provider: word,
  reasoning_effort: oneOf(EFFORTS),
  backend: text,
  /** Tools that the program of a backend may use without a question, separated by commas. */
  tools,
  tool_command: text,
  join_policy: oneOf(JOIN_POLICIES),
  /** The number of branches that `join_policy=k_of_n` needs. */
  k: integer({ min: 1 }),
  error_policy: oneOf(ERROR_POLICIES),
  max_parallel: integer({ min: 1 }),
  'human.default_choice': text,
  'manager.poll_interval': duration,
  'manager.max_cycles': integer({ min: 1 }),
  'manager.stop_condition': text,
  'manager.actions': text,
  'manager.steer_cooldown': duration,
  'stack.child_autostart': boolean,
  'tool_hooks.pre': text,
  'tool_hooks.post': text,
} satisfies Table;

export const EDGE_ATTRIBUTES = {
  label: text,
  condition: text,
  weight: integer({ min: Number.MIN_SAFE_INTEGER }),
  fidelity: text,
  thread_id: text,
  loop_restart: boolean,
} satisfies Table;

export type GraphAttributes = typeof GRAPH_ATTRIBUTES;
export type NodeAttributes = typeof NODE_ATTRIBUTES;
export type EdgeAttributes = typeof EDGE_ATTRIBUTES;

/** The attributes of the graph itself, of nodes and of edges. */
export const ATTRIBUTES: { readonly [of in 'graph' | 'node' | 'edge']: Table } = {
  graph: GRAPH_ATTRIBUTES,
  node: NODE_ATTRIBUTES,
  edge: EDGE_ATTRIBUTES,
};

export function isFidelityMode(written: string): written is FidelityMode {
  return (FIDELITY_MODES as readonly string[]).includes(written);
}

function integer({ min }: { readonly min: number }): AttributeType<number> {
  return {
    name: min === Number.MIN_SAFE_INTEGER ? 'a whole number' : `a whole number from ${min}`,
    read(written) {
      const value = /^-?\d+$/.test(written) ? Number(written) : Number.NaN;
      return Number.isSafeInteger(value) && value >= min ? value : undefined;
    },
    mayBeEmpty: false,
  };
}

function oneOf<W extends string>(words: readonly W[]): AttributeType<W> {
  return { name: words.join(', '), read: (written) => words.find((word) => word === written), mayBeEmpty: true };
}

function milliseconds(written: string): number | undefined {
  const [, count, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(written) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  const perUnit: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  const value = Number(count) * (perUnit[unit] ?? Number.NaN);
  return Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** Parts the names of tools at commas that are in no brackets; `Bash(echo (a), b)` is one name. */
function toolsIn(written: string): readonly string[] {
  const names = [''];
  let depth = 0;
  for (const character of written) {
    if (character === '(') depth++;
    if (character === ')') depth = Math.max(0, depth - 1);
    if (character === ',' && depth === 0) names.push('');
    else names.push(names.pop() + character);
  }
  return names.map((name) => name.trim()).filter((name) => name !== '');
}
