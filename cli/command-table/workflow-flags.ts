/** The flags of `mlld run` for a workflow script. Every other flag is a member of its `args`. workflows-js.md 12. */
import { RUN_FLAGS } from './run-flags.js';
import type { FlagRow } from './rows.js';

/** Flags of scripts that mean the same for a workflow script. */
const SHARED = new Set([
  'help',
  'timeout',
  'mlld-env',
  'checkpoint',
  'fresh',
  'resume',
  'fork',
  'changed',
  'journal-wait',
  'unrecorded',
  'retries',
  'call-timeout',
  'concurrency',
  'max-calls',
  'budget-strict',
  'allow-failures',
  'wait-quota',
  'keep-orphans',
  'plan',
  'no-checkpoint',
  'metrics',
  'progress',
  'verbose',
  'debug',
]);

/** Flags that no script of the language has. */
export const OWN_WORKFLOW_FLAGS: readonly FlagRow[] = [
  {
    flags: ['args'],
    value: 'required',
    written: 'json',
    does: 'the input: JSON, else a text; - reads standard input',
    usage: '--args \'{"berths": ["north"]}\'',
  },
  {
    flags: ['backend'],
    value: 'required',
    written: 'backend',
    does: 'what answers the agents: claude, codex, gemini, opencode, cmd:COMMAND, exe:FILE.mld#NAME, simulated',
    usage: '--backend claude',
  },
  { flags: ['model'], value: 'required', written: 'name', does: 'the model of agents that name none', usage: '--model haiku' },
  { flags: ['parallel'], value: 'required', written: 'count', does: 'the most agents at once', usage: '--parallel 4' },
];

export const WORKFLOW_FLAGS: readonly FlagRow[] = [
  ...OWN_WORKFLOW_FLAGS,
  {
    flags: ['budget'],
    value: 'required',
    written: 'tokens',
    does: 'the budget of the script in output tokens: 500k, 2M; or what its calls may cost: 5usd,300calls',
    usage: '--budget 500k',
  },
  { flags: ['strict'], value: 'none', does: 'exit with 1 when an agent failed' },
  ...RUN_FLAGS.filter(({ flags: [name] }) => SHARED.has(name)),
];
