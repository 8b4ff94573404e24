/** Returns the first code points of a text, so that no character is cut in two. */
export function truncate(text: string, codePoints: number): string {
  const units = text.slice(0, codePoints * 2);
  return Array.from(units).slice(0, codePoints).join('');
}
