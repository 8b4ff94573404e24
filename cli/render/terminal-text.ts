/**
 * Makes text harmless for a terminal. Everything that the program writes to standard error and every report passes here on its way out
 * (`cli/main.ts`), so that no text of a model, a script, a journal or a file name can move the cursor, rename the window or hide a line.
 *
 * A control character is written as JSON writes it (`\u001b`). It stays visible, and a report in JSON keeps its meaning: within JSON such
 * characters occur in strings alone. Colours of ours are marks until then (`style.ts`), because an escape sequence of ours looks like
 * one of a model.
 */

/** All control characters but line ends and tabs, and those that change the direction of the text behind them. */
export const CONTROLS = /(?!\r\n)[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/;
const EVERY_CONTROL = new RegExp(CONTROLS, 'g');

/** Noncharacters: no text has them, Unicode leaves them to the inside of a program. */
const SGR: { readonly [mark: string]: string } = {
  '\uFDD0': '\u001B[1m',
  '\uFDD1': '\u001B[2m',
  '\uFDD2': '\u001B[22m',
  '\uFDD3': '\u001B[31m',
  '\uFDD4': '\u001B[32m',
  '\uFDD5': '\u001B[33m',
  '\uFDD6': '\u001B[39m',
};
export const MARKS = {
  bold: '\uFDD0',
  dim: '\uFDD1',
  weightEnd: '\uFDD2',
  red: '\uFDD3',
  green: '\uFDD4',
  yellow: '\uFDD5',
  colourEnd: '\uFDD6',
};
/** Each colour mark in a text. */
export const EVERY_MARK = /[\uFDD0-\uFDD6]/g;

/** Control characters written out; line ends and tabs stay. */
export function visible(text: string): string {
  return CONTROLS.test(text) ? text.replaceAll(EVERY_CONTROL, writtenOut) : text;
}

/** The same, and the colour marks of a report as what a terminal understands. `colours: false`: the text has no marks of ours. */
export function terminalText(text: string, { colours }: { readonly colours: boolean }): string {
  const safe = visible(text);
  return colours ? safe.replaceAll(EVERY_MARK, (mark) => SGR[mark] ?? mark) : safe;
}

/** As JSON writes it: `\u001b`. */
export function writtenOut(control: string): string {
  return `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
