/** Values of names that no script declares: the reserved variables and the built-in functions. values.md 11.3, 12 and 13. */
import { MlldError } from '../../errors.js';
import { performEffect } from '../../operation/perform-effect.js';
import type { Value } from '../../values/value.js';
import { builtIn } from './built-ins.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import type { Module } from '../../runtime/module.js';
import { readInput } from './standard-input.js';

const RESERVED = new Set(['now', 'root', 'base', 'input', 'debug', 'keychain', 'mx']);

/** Returns undefined for any other name. Reads the clock for `now` and standard input for `input`, each an effect of the run. */
export async function ambientValue(name: string, frame: Frame): Promise<Value> {
  const { settings, state } = frame.run;
  switch (name) {
    case 'now':
      return new Date((await performEffect(frame, 'clock.now', {})).ms).toISOString();
    case 'root':
    case 'base':
      return settings.projectRoot;
    case 'input':
    case 'stdin':
      return readInput(frame);
    case 'payload':
      return settings.payload;
    case 'p':
    case 'pipeline':
      return frame.context.stage?.pipeline;
    case 'state':
      return settings.hasState ? state : undefined;
    case 'debug':
      return `mlld: ${frame.module.display}, project ${settings.projectRoot}, names ${frame.scope.visible().toSorted().join(' ')}`;
    default:
      return builtIn(name);
  }
}

/** Throws RESERVED_NAME at the name, which begins at `at`. */
export function refuseReserved(name: string, module: Module, at: number): void {
  if (!RESERVED.has(name)) return;
  throw new MlldError('RESERVED_NAME', `@${name} is a reserved name and can't be declared`, {
    location: locationOf(module, at),
    hint: 'choose another name',
  });
}
