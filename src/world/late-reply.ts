/**
 * Recognises the reply that a model program has while its run is being ended. It is paid for, so it is not given up before its program was
 * ended, and it counts where the program ends well: such a reply says by itself whether it is whole. That is not so of other programs, many
 * of which take the request to end for a reason to stop in the middle, with the status 0. A model program is executed without a shell.
 */
import type { EffectKind, EffectOptions } from './world.js';

export function isModelProgram(kind: EffectKind, request: object, report: EffectOptions['report']): boolean {
  return kind === 'command.run' && report !== undefined && 'words' in request && request.words !== undefined;
}

/** `value`: the result of a program. */
export function hasEndedWell(value: object): boolean {
  return 'exitCode' in value && value.exitCode === 0;
}
