/** Recognises calls of the backend that stands in for a model, with which a run is tried. */
import { sha256 } from '../canonical.js';
import type { DefinitionPart } from '../event.js';
import { SIMULATED } from './simulated-backend.js';

/** A variable of a script has the digest of its JSON, which is another one. A run that looks at no definition computes none. */
let simulatedDigest: string | undefined;

/** Returns whether calls with this definition are simulated: no model is asked, and their results are no model's. */
export function simulates(parts: readonly DefinitionPart[]): boolean {
  const backend = parts.find(({ kind, name, inBackend }) => kind === 'variable' && name === 'backend' && !inBackend);
  if (backend === undefined) return false;
  simulatedDigest ??= sha256(SIMULATED);
  return backend.digest === simulatedDigest;
}
