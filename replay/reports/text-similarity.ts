/** Measures how much two short texts have in common, from 0 to 1. */

/** The part of the longer text that a common beginning and a common end make up. */
export function textSimilarity(left: string | undefined, right: string | undefined): number {
  if (left === undefined || right === undefined) return left === right ? 1 : 0;
  const [shorter, longer] = [Math.min(left.length, right.length), Math.max(left.length, right.length)];
  let start = 0;
  while (start < shorter && left[start] === right[start]) start++;
  let end = 0;
  while (end < shorter - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end++;
  return longer === 0 ? 1 : (start + end) / longer;
}
