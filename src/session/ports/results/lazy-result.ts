/** Leaves large results in the journal until a script reads them. */
import type { Json, ResultMetadata } from '../../../../journal/event.js';
import type { CallKey, RunRef } from '../../../../journal/ids.js';
import type { ImmediateReads, Position } from '../../../../journal/store.js';
import { holdsResult } from '../../../../replay/memo/stored-result.js';
import { MlldError } from '../../../errors.js';
import { decodeValue } from '../../../operation/encode-result.js';
import type { Encoded } from '../../../runtime/calls/result-cache.js';
import { Annotated, dataOf, NO_METADATA, LazyData, type Data, type Metadata, type Value } from '../../../values/value.js';

/** Smaller results are held in memory: remembering their place would cost almost as much. */
export const HELD_BYTES_MAX = 1024;

export interface RecordedPlace {
  readonly ref: RunRef;
  readonly key: CallKey;
  readonly position: Position;
  readonly form: Encoded['form'];
  readonly fn: string;
}

/** Metadata of the whole value is held in memory. Metadata of its parts, or a text of its own, needs the whole result. */
export function fitsInMemory(notes: readonly ResultMetadata[]): boolean {
  return notes.every(({ at, text }) => at === undefined && text === undefined);
}

export function lazyResult(reads: ImmediateReads, place: RecordedPlace, metadata: Metadata = NO_METADATA): Value {
  return new LazyData(new RecordedData(reads, place), metadata);
}

/** Reads the result when it is first used, and holds it from then on like any other value. */
class RecordedData {
  private value: Value;

  constructor(
    private readonly reads: ImmediateReads,
    private readonly place: RecordedPlace,
  ) {}

  data(): Data {
    return dataOf(this.read()) as Data;
  }

  text(): string | undefined {
    const value = this.read();
    return value instanceof Annotated ? value.text : undefined;
  }

  private read(): Value {
    return (this.value ??= readResult(this.reads, this.place));
  }
}

/** The result was whole when it was reused. Throws RESULT_LOST for damage since then. */
function readResult(reads: ImmediateReads, { ref, key, position, form, fn }: RecordedPlace): Value {
  const event = reads.readAt(ref, position);
  const json: Json | undefined = holdsResult(event) ? reads.resolve(event.result, key) : undefined;
  if (json === undefined) {
    throw new MlldError('RESULT_LOST', `The recorded result of @${fn} can't be read any more`, {
      hint: `the journal of run ${ref.run} was damaged during this run; run again to make this call again`,
    });
  }
  return decodeValue({ json, form, notes: [] }, '');
}
