/** Collects the document of a run, and writes it to standard output as it grows or leaves that to the end. world.md 3. */
import type { Document, DocumentEffect } from '../../runtime/ports.js';
import type { Frame } from '../../runtime/frame.js';
import { performEffect } from '../../operation/perform-effect.js';
import { normaliseDocument } from '../../values/kinds/document.js';
import type { Value } from '../../values/value.js';

export interface KeptDocument extends Document {
  readonly effects: readonly DocumentEffect[];
  /** Returns the whole text, normalised. */
  normalised(): string;
}

export function createDocument({ streaming, collects }: { readonly streaming: boolean; readonly collects: boolean }): KeptDocument {
  const chunks: string[] = [];
  const effects: DocumentEffect[] = [];
  const collect = (type: DocumentEffect['type'], content: string, value: Value): void => {
    if (collects) effects.push({ type, content, value });
  };
  const emit = async (text: string, value: Value, frame: Frame): Promise<void> => {
    chunks.push(text);
    if (streaming) await performEffect(frame, 'stream.write', { stream: 'stdout', text }, { values: [value] });
  };
  return {
    effects,
    async show(text, value, frame) {
      const line = text.endsWith('\n') ? text : `${text}\n`;
      collect('both', line, value);
      await emit(line, value, frame);
    },
    async prose(text, frame) {
      collect('doc', text, text);
      await emit(text, text, frame);
    },
    async write(stream, text, value, frame) {
      collect(stream, text, value);
      if (streaming || stream === 'stderr') await performEffect(frame, 'stream.write', { stream, text }, { values: [value] });
      else chunks.push(text);
    },
    note: (effect) => {
      if (collects) effects.push(effect);
    },
    text: () => chunks.join(''),
    normalised: () => normaliseDocument(chunks.join('')),
  };
}
