/** Colours, where the reader is a terminal that wants them. */
type Colour = (text: string) => string;

export interface Paint {
  readonly bold: Colour;
  readonly dim: Colour;
  readonly red: Colour;
  readonly green: Colour;
  readonly yellow: Colour;
}

const plain: Colour = (text) => text;
const PLAIN: Paint = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain };

export async function paintFor(colours: boolean): Promise<Paint> {
  if (!colours) return PLAIN;
  const { default: picocolors } = await import('picocolors');
  return picocolors.createColors(true);
}
