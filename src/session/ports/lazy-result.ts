/** Results that stay in the journal until a script looks at them. */
import type { Json, ResultMetadata } from '../../../journal/event.js';
import type { CallKey, RunRef } from '../../../journal/ids.js';
import type { ImmediateReads, Position } from '../../../journal/store.js';
import { MlldError } from '../../errors.js';
import { decodeValue } from '../../operation/encode-result.js';
import type { Encoded } from '../../runtime/result-cache.js';
import { Annotated, dataOf, NO_METADATA, LazyData, type Data, type Metadata, type Value } from '../../values/value.js';

/** Results that take less are held: a place costs almost as much. */
export const HELD_BYTES_MAX = 1024;

export interface RecordedPlace {
  readonly ref: RunRef;
  readonly key: CallKey;
  readonly position: Position;
  readonly form: Encoded['form'];
  readonly fn: string;
}

/** What is known of the whole is held; of its parts, or that its text is another one, only the whole result tells. */
export function fitsInMemory(notes: readonly ResultMetadata[]): boolean {
  return notes.every(({ at, text }) => at === undefined && text === undefined);
}

export function lazyResult(reads: ImmediateReads, place: RecordedPlace, note: Metadata = NO_METADATA): Value {
  return new LazyData(new RecordedData(reads, place), note);
}

/** The first look reads it, and from then on it is held like any other value. */
class RecordedData {
  private value: Value;

  constructor(
    private readonly reads: ImmediateReads,
    private readonly place: RecordedPlace,
  ) {}

  data(): Data {
    return dataOf(this.look()) as Data;
  }

  text(): string | undefined {
    const seen = this.look();
    return seen instanceof Annotated ? seen.text : undefined;
  }

  private look(): Value {
    return (this.value ??= read(this.reads, this.place));
  }
}

/** It was whole when it was served; damage since then is told, never papered over. */
function read(reads: ImmediateReads, { ref, key, position, form, fn }: RecordedPlace): Value {
  const event = reads.readAt(ref, position);
  const json: Json | undefined = event?.type === 'call.completed' ? reads.resolve(event.result, key) : undefined;
  if (json === undefined) {
    throw new MlldError('RESULT_LOST', `The recorded result of @${fn} can't be read any more`, {
      hint: `the journal of run ${ref.run} was damaged while this run went on; run again, and it is asked again`,
    });
  }
  return decodeValue({ json, form, notes: [] }, '');
}
