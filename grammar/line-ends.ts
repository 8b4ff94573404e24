/**
 * A line ends with LF or CRLF, and which of them an editor writes is no part of what a script says: with CRLF its texts over several lines,
 * and so its questions, are those it has with LF. Applied once, where a file becomes a source; offsets are into the text this gives. Lines and
 * columns are those of the file. What a script loads keeps its line ends.
 */
export function withPlainLineEnds(text: string): string {
  return text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
}
