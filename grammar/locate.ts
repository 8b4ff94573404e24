/** Returns line and column of an offset, both from 1. A CR before a line end belongs to its line. */
export function locate(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  const start = before.lastIndexOf('\n') + 1;
  const bom = start === 0 && text.startsWith('\uFEFF') ? 1 : 0;
  return { line: before.split('\n').length, column: Math.max(1, at - start - bom + 1) };
}
