import type { EventRef } from '../../../journal/ids.js';

/** Ends the execution of a call of which no body began, because another run has it. No failure: the call has its result from there. */
export class ExecutedElsewhere extends Error {
  /** `by`: the result, which `lookup` finds. Absent at a worker, which leaves the call to others. */
  constructor(readonly by?: EventRef) {
    super('another run executes the call');
  }
}
