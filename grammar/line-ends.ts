/**
 * Turns CRLF into LF, because the line ends that an editor writes must not change a script: its texts over several lines, and so its call
 * keys, are the same with both. Applied once, when a file becomes a source; offsets are into the text that this returns. Lines and columns
 * are those of the file. Data that a script loads keeps its line ends.
 */
export function withPlainLineEnds(text: string): string {
  return text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
}
