/** Declares how a replay can differ from its record. */
import type { OpPath } from '../../../journal/ids.js';

export interface Divergence {
  /**
   * `changed`: the operation makes another request than recorded · `new`: the record has no such request of it · `missing`: a recorded
   * request is not made · `ending`: the run ends in another way · `not-recordable`: functions of the host · `unreadable`: the journal
   * doesn't hold the result any more, or holds it sealed.
   */
  readonly reason: 'changed' | 'new' | 'missing' | 'ending' | 'not-recordable' | 'unreadable';
  readonly op: OpPath;
  /** The kind of request: `command.run`, `file.read`, `stream.write`, `call`, `run`. */
  readonly kind: string;
  readonly expected?: DivergentRequest;
  readonly actual?: DivergentRequest;
}

export interface DivergentRequest {
  /** The sequence number of the recorded event. */
  readonly seq?: number;
  /** A path, a command or a text, as `journal show` prints it. */
  readonly subject: string;
  /** The whole request, if it is known. */
  readonly request?: unknown;
}
