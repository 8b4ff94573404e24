/** The ports of a script's run, and what all scripts of one run share. `session/` fills them. */
import type { CallKey, OpPath } from '../../../journal/ids.js';
import type { AgentBackend } from '../backends/backend.js';
import type { WorkflowText } from '../text/read-script.js';

export interface SampledCall {
  readonly op: OpPath;
  /** The digits of the key of its first sample, which its path has if no secret is in it. */
  readonly digits: string;
  readonly isSimulated: boolean;
  /** A secret is in the request: the key to record it under is a keyed one. */
  readonly hasSecret: boolean;
  /** Returns the plain key of the sample of this number, from 1. */
  keyOf(number: number): CallKey;
}

export interface TakenSample {
  /** From 1. */
  readonly number: number;
  /** The key that its result is recorded under, or will be. */
  readonly key: CallKey;
  /** It has a usable result. */
  readonly isRecorded: boolean;
}

export interface WorkflowSource {
  /** Absolute. */
  readonly file: string;
  /** The name of the file in messages. */
  readonly display: string;
  readonly text: WorkflowText;
}

/** Counts the agent calls of a run, over all its scripts, and the output tokens of the results that it used. */
export class AgentTotals {
  /** Every call, reused ones included. */
  calls = 0;
  spentTokens = 0;
  /** Some of `spentTokens` are a quarter of a reply's length, because nothing said how many there were. */
  isEstimated = false;
  readonly failed: FailedAgent[] = [];
}

export interface FailedAgent {
  /** Label, else the beginning of the prompt. */
  readonly name: string;
  readonly reason: string;
}

/** The ports of an agent call. */
export interface AgentPorts {
  /** Decides which recorded result a call may reuse, and marks it as taken. */
  readonly take: (call: SampledCall) => Promise<TakenSample>;
  /** The time that the call of this key took when it was executed; undefined where nothing is recorded of it. */
  readonly elapsedOf: (key: CallKey) => number | undefined;
  /** The worktree that was kept when the call of this key was executed, with an absolute path. */
  readonly keptWorktreeOf: (key: CallKey) => Promise<string | undefined>;
  /** Throws AGENT_BACKEND. */
  readonly backendOf: (written: string) => AgentBackend;
  /** The text of the definition of a custom agent; undefined where there is none. */
  readonly definitionOf: (agentType: string) => Promise<string | undefined>;
  readonly backend: AgentBackend;
  readonly model: string | undefined;
  /** The budget of the work in output tokens; null without one. */
  readonly totalTokens: number | null;
  /** The name of this run in the locks of its worktrees; undefined where nothing is recorded. */
  readonly owner: string | undefined;
  readonly totals: AgentTotals;
}

export interface WorkflowPorts extends AgentPorts {
  /** Finds another script by its name or path. Throws an Error for the script that calls it. */
  readonly findScript: (ref: string | { readonly scriptPath: string }, from: WorkflowSource, op: OpPath) => Promise<WorkflowSource>;
  readonly seed: string;
}
