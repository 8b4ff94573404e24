/** The flags of runs about calls of models, of scripts and of pipelines. calls.md 11.4. */
import type { FlagRow } from './rows.js';

export const CALL_FLAGS = [
  {
    flags: ['retries'],
    value: 'required',
    written: 'count',
    does: 'further attempts of a call that fails for the moment; 0: none',
    usage: '--retries 3',
  },
  {
    flags: ['call-timeout'],
    value: 'required',
    written: 'duration',
    does: 'limit of one attempt of a call: 30s, 5m',
    usage: '--call-timeout 5m, or 900ms, 30s, 1h, or a number of milliseconds',
  },
  {
    flags: ['concurrency'],
    value: 'required',
    written: 'count',
    does: 'attempts of calls in flight at a time, over all lanes',
    usage: '--concurrency 8',
  },
  {
    flags: ['budget'],
    value: 'required',
    written: 'limits',
    does: 'what the calls of the run may cost: 5usd,2Mtok,300calls,3h; then it is paused; a name: a budget of mlld store budget',
    usage: '--budget 5usd,2Mtok,300calls,3h',
  },
  { flags: ['max-calls'], value: 'required', written: 'count', does: 'short for --budget COUNTcalls', usage: '--max-calls 300' },
  { flags: ['budget-strict'], value: 'none', does: 'with --budget: pause the run when an attempt reports no cost' },
  { flags: ['allow-failures'], value: 'none', does: 'exit with 0 when the run reaches its end with unresolved calls' },
  {
    flags: ['wait-quota'],
    value: 'required',
    written: 'duration',
    does: 'wait so long for a used-up allowance instead of pausing the run',
    usage: '--wait-quota 2h',
  },
] as const satisfies readonly FlagRow[];
