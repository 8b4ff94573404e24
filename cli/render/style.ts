/** Colours and width of a report, for the terminal or file that it is written to. */
import type { Io } from '../terminal/io.js';
import { MARKS } from './terminal-text.js';

type Colour = (text: string) => string;

export interface Style {
  readonly bold: Colour;
  readonly dim: Colour;
  readonly red: Colour;
  readonly green: Colour;
  readonly yellow: Colour;
  /** The width to which lines are broken, where they can be. Undefined: lines stay whole, so that they can be searched. */
  readonly columns: number | undefined;
}

const plain: Colour = (text) => text;
const PLAIN: Style = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, columns: undefined };

/** Marks, which become colours where the text leaves the program. */
const COLOURED: Style = {
  bold: (text) => MARKS.bold + text + MARKS.weightEnd,
  dim: (text) => MARKS.dim + text + MARKS.weightEnd,
  red: (text) => MARKS.red + text + MARKS.colourEnd,
  green: (text) => MARKS.green + text + MARKS.colourEnd,
  yellow: (text) => MARKS.yellow + text + MARKS.colourEnd,
  columns: undefined,
};

export function styleFor(colours: boolean): Style {
  return colours ? COLOURED : PLAIN;
}

/** Returns the style of a report on standard output. */
export function reportStyle({ colours, stdoutColumns }: Io): Style {
  return { ...styleFor(colours.stdout), columns: stdoutColumns() };
}
