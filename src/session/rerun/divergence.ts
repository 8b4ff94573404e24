/** Where a replay left its record. */
import type { OpPath } from '../../../journal/ids.js';

export interface Divergence {
  /**
   * `changed`: the operation asked something else then · `new`: it did not ask anything like it · `missing`: what was asked then is not
   * asked now · `ending`: the run ended otherwise · `not-recordable`: functions of the host · `unreadable`: the journal doesn't hold
   * the answer any more, or only sealed.
   */
  readonly reason: 'changed' | 'new' | 'missing' | 'ending' | 'not-recordable' | 'unreadable';
  readonly op: OpPath;
  /** What was asked: `command.run`, `file.read`, `stream.write`, `call`, `run`. */
  readonly kind: string;
  readonly expected?: DivergentRequest;
  readonly actual?: DivergentRequest;
}

export interface DivergentRequest {
  /** Of the recorded event. */
  readonly seq?: number;
  /** A path, a command, a text: as `journal show` has it. */
  readonly subject: string;
  /** The whole request, where it is known. */
  readonly request?: unknown;
}
