/** Milliseconds of a text like `90s`. */
export function parseDuration(text) {
  throw new Error(`not written yet: ${text}`);
}
