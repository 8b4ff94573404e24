/** Compares flags with options, to find misspelt ones. */

/** In shorter names one letter more or less makes another word: `--model` is not `--mode`. */
const LETTERS_MIN = 6;
const LETTER = /^\p{L}$/u;

/** Returns true when both are equal but for case, `_` and `-`, or one letter inserted, missing, changed, or swapped with the next. */
export function resembles(flag: string, option: string): boolean {
  const [written, meant] = [plain(flag), plain(option)];
  return written === meant || (meant.length >= LETTERS_MIN && isOneLetterOff(written, meant));
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '');
}

function isOneLetterOff(written: string, meant: string): boolean {
  let at = 0;
  while (at < written.length && written[at] === meant[at]) at++;
  const [here, next] = [written[at] ?? '', written[at + 1] ?? ''];
  const rest = written.slice(at + 1);
  switch (written.length - meant.length) {
    case 1:
      return LETTER.test(here) && rest === meant.slice(at);
    case -1:
      return written.slice(at) === meant.slice(at + 1);
    case 0:
      if (LETTER.test(here) && rest === meant.slice(at + 1)) return true;
      return here === meant[at + 1] && next === meant[at] && written.slice(at + 2) === meant.slice(at + 2);
    default:
      return false;
  }
}
