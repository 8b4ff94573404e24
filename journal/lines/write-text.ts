/**
 * Writes text into a buffer. `Buffer.write` checks its arguments by four more functions first, which took longer than to write a line, and
 * a call has ten such texts. Node has had the methods below it in all its versions; its documents leave them out, so a version without
 * them is served as well.
 */

interface NodeBuffer {
  utf8Write?(text: string, start: number): number;
  latin1Write?(text: string, start: number): number;
}
type Known = Buffer & Required<NodeBuffer>;

/** Writes what fits from `start` on, which must be in the buffer, and returns the number of bytes that were written. */
export type WriteText = (bytes: Buffer, text: string, start: number) => number;

const { utf8Write, latin1Write }: NodeBuffer = Buffer.prototype as NodeBuffer;

export const writeUtf8: WriteText = utf8Write
  ? (bytes, text, start) => (bytes as Known).utf8Write(text, start)
  : (bytes, text, start) => bytes.write(text, start);

export const writeLatin1: WriteText = latin1Write
  ? (bytes, text, start) => (bytes as Known).latin1Write(text, start)
  : (bytes, text, start) => bytes.write(text, start, 'latin1');
