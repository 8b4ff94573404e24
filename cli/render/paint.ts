/** How a report looks where it is read: colours for a terminal that wants them, and how wide that is. */
import type { Io } from '../io.js';

type Colour = (text: string) => string;

export interface Paint {
  readonly bold: Colour;
  readonly dim: Colour;
  readonly red: Colour;
  readonly green: Colour;
  readonly yellow: Colour;
  /** Lines are to be no longer than this, where they can be broken. Undefined: they stay whole, for whoever searches in them. */
  readonly columns: number | undefined;
}

const plain: Colour = (text) => text;
const PLAIN: Paint = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, columns: undefined };

export async function paintFor(colours: boolean): Promise<Paint> {
  if (!colours) return PLAIN;
  const { default: picocolors } = await import('picocolors');
  return { ...picocolors.createColors(true), columns: undefined };
}

/** For a report on standard output. */
export async function paintForReport({ colours, stdoutColumns }: Io): Promise<Paint> {
  return { ...(await paintFor(colours.stdout)), columns: stdoutColumns() };
}
