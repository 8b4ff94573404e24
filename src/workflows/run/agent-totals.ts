/** Counts the agent calls of a run, over all its scripts, and the output tokens of the results that it used. */
export interface FailedAgent {
  /** Label, else the beginning of the prompt. */
  readonly name: string;
  readonly reason: string;
}

export class AgentTotals {
  /** Every call, reused ones included. */
  calls = 0;
  spentTokens = 0;
  /** Some of `spentTokens` are a quarter of a reply's length, because nothing said how many there were. */
  isEstimated = false;
  readonly failed: FailedAgent[] = [];
}
