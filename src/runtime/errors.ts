/** Errors of running code, with the places that they passed on their way up. */
import { locate } from '../../grammar/parse.js';
import { messageOf, MlldError, placeOf, type SourceLocation } from '../errors.js';
import { closest } from '../values/suggest.js';
import { WorldError } from '../world/world.js';
import type { Module } from './module.js';
import type { Scope } from './scope.js';

export function locationOf(module: Module, at: number): SourceLocation {
  return { file: module.display, at, text: module.text };
}

/** Adds a place to an error on its way up: the first one is its location, the ones further out are its trail. */
export function rise(error: unknown, module: Module, at: number, what: string): unknown {
  const known = asUsersError(error);
  if (!(known instanceof MlldError)) return known;
  const here = locationOf(module, at);
  if (!known.location) known.location = here;
  else if (known.location.file !== here.file || known.location.at !== at) {
    const inner = known.trail.at(-1);
    // The call on the line of a statement says more than the statement, and so does the item of a loop.
    const isSaid = inner?.what.startsWith('@') && !/[@ ]/.test(what) && isSameLine(inner.location, here);
    const isThere = inner?.location.file === here.file && inner.location.at === at && inner.what.startsWith(`${what} `);
    if (!isSaid && !isThere) known.trail.push({ what, location: here });
  }
  return known;
}

/** Returns the innermost place of an error, by which failures of one cause are recognised; else its message. */
export function siteOfError(error: unknown): string {
  const place = error instanceof MlldError ? error.location : undefined;
  return place ? `${place.file}:${place.at}` : messageOf(error);
}

/** Returns the places for a warning about an error that is not thrown: ` (job.mld:3:8)`, and a line for each call around it. */
export function placesOf(error: unknown): string {
  if (!(error instanceof MlldError) || !error.location) return '';
  const around = error.trail.map(({ what, location }) => `\n  in ${what} (${placeOf(location)})`);
  return ` (${placeOf(error.location)})${around.join('')}`;
}

function isSameLine(inner: SourceLocation, outer: SourceLocation): boolean {
  return inner.file === outer.file && !outer.text.slice(outer.at, inner.at).includes('\n');
}

function asUsersError(error: unknown): unknown {
  if (error instanceof WorldError) return new MlldError(error.code, error.message, { hint: error.hint, cause: error });
  if (error instanceof RangeError && error.message.includes('string length')) {
    return new MlldError('TEXT_TOO_LONG', 'A text grew beyond half a billion characters, the most that a text can have', {
      hint: 'write the parts to a file with append',
      cause: error,
    });
  }
  if (error instanceof RangeError && error.message.includes('call stack')) {
    return new MlldError('NESTED_TOO_DEEPLY', 'A value is nested too deeply to be evaluated', {
      hint: 'flatten it: a few thousand levels are too many',
      cause: error,
    });
  }
  return error;
}

export function undefinedVariable(name: string, module: Module, at: number, scope: Scope): MlldError {
  const near = closest(name, scope.visible());
  return new MlldError('UNKNOWN_VARIABLE', `Variable @${name} is not defined`, {
    location: locationOf(module, at),
    hint: hintOfLater(name, module, at) ?? (near === undefined ? undefined : `did you mean @${near}?`),
  });
}

/** Says that the file declares the name below `at`, so that the statement there has not run yet; undefined where it does not. */
export function hintOfLater(name: string, { text }: Module, at: number): string | undefined {
  const declaration = new RegExp(`^[ \\t]*/?(exe|var)\\b[^@\\n]*@${name}(?![\\w-])`, 'gm');
  declaration.lastIndex = at;
  const found = declaration.exec(text);
  if (!found) return undefined;
  return `it is declared further down, in line ${locate(text, found.index).line}: move its \`${found[1]}\` up, above the first use`;
}

/** `bail`: ends the whole run, from any depth, and no parallel loop collects it. */
export class Bail extends MlldError {
  constructor(message: string, location: SourceLocation) {
    super('BAIL', message, { location });
    this.name = 'Bail';
  }
}

/** True for errors that no loop collects: `bail`, an interrupt, and a broken invariant of the runtime. */
export function endsTheRun(error: unknown): boolean {
  if (error instanceof Bail) return true;
  if (error instanceof MlldError || error instanceof WorldError) return error.code === 'INTERRUPTED' || error.code === 'TIMED_OUT';
  return true;
}
