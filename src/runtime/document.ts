/** What a run shows. world.md 3: the document goes to standard output as it grows, or at the end as a whole. */
import type { Value } from '../values/value.js';
import type { Frame } from './frame.js';

export interface DocumentEffect {
  readonly type: 'both' | 'doc' | 'stdout' | 'stderr' | 'file';
  readonly content: string;
  readonly path?: string;
  readonly value: Value;
}

export interface Document {
  /** Shows one item: its text and one line end, unless it ends with one. */
  show(text: string, value: Value, frame: Frame): Promise<void>;
  /** Text of a markdown script, as it stands. */
  prose(text: string, frame: Frame): Promise<void>;
  /** `output … to stdout|stderr`, `log`: past the document. */
  write(stream: 'stdout' | 'stderr', text: string, value: Value, frame: Frame): Promise<void>;
  /** A file was written; only `--structured` wants to know. */
  note(effect: DocumentEffect): void;
  /** What was shown so far. */
  text(): string;
}
