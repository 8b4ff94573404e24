/** Keeps the digits of numbers that a double can't hold, where data is written again as text. values.md 15.3. */

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** True where reading the JSON text as data changes a number: `12345678901234567890`. */
export function losesDigits(json: string): boolean {
  return /[\d.]{16}/.test(json) && numbersIn(json).some(isInexact);
}

/**
 * Returns `written`, which was made of the data of `source`, with such numbers as `source` has them. Both are JSON. Where the numbers of
 * both do not correspond (a name twice in an object, names that are numbers) `written` is returned as it is.
 */
export function withExactNumbers(written: string, source: string): string {
  if (!losesDigits(source)) return written;
  const exact = numbersIn(source);
  const rounded = numbersIn(written);
  if (exact.length !== rounded.length || exact.some((number, i) => Number(number) !== Number(rounded[i]))) return written;
  let next = 0;
  return written.replaceAll(TOKEN, (token) => {
    if (token.startsWith('"')) return token;
    const number = exact[next++] ?? token;
    return isInexact(number) ? number : token;
  });
}

function numbersIn(json: string): readonly string[] {
  return (json.match(TOKEN) ?? []).filter((token) => !token.startsWith('"'));
}

function isInexact(number: string): boolean {
  return significantDigits(String(Number(number))) !== significantDigits(number);
}

function significantDigits(number: string): string {
  return number
    .replace(/[eE].*$/, '')
    .replaceAll(/[-.]/g, '')
    .replace(/^0+/, '')
    .replace(/0+$/, '');
}
