// Names the subjects: our command and, when MLLD_PEER names one, a peer implementation. Every comparison alternates between them.

import { fileURLToPath } from 'node:url';

const OURS = fileURLToPath(new URL('../dist/mlld.cjs', import.meta.url));

/** MLLD_OURS and MLLD_PEER are command lines, words separated by blanks. @returns {{ name: 'ours' | 'peer', argv: string[] }[]} */
export function subjects() {
  const words = (line) => line.split(/\s+/).filter((word) => word !== '');
  const ours = { name: 'ours', argv: process.env.MLLD_OURS ? words(process.env.MLLD_OURS) : [process.execPath, OURS] };
  return process.env.MLLD_PEER ? [ours, { name: 'peer', argv: words(process.env.MLLD_PEER) }] : [ours];
}
