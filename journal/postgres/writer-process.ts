/**
 * Names the process that writes a run, so that another one on its machine sees at once that it is gone. Everyone else waits for the lease.
 *
 * WRITER-PROCESS-1 Process numbers count within one boot and one namespace of them (containers of a machine share the boot): where these
 *    differ, or are not known, nothing is said about the process.
 */
import fs from 'node:fs';
import { isOwnerAlive, thisProcess } from '../storage/runs/run-liveness.js';

interface WriterProcess {
  readonly namespace: string;
  readonly owner: unknown;
}

/** Empty where the system does not tell processes from later ones of the same number. */
export function describeProcess(): string {
  const namespace = processNamespace();
  const owner: unknown = JSON.parse(Buffer.from(thisProcess()).toString());
  return namespace === '' ? '' : JSON.stringify({ namespace, owner } satisfies WriterProcess);
}

/** True when `described` is a process of this machine that does not exist any more. WRITER-PROCESS-1 */
export function hasDied(described: unknown): boolean {
  return existsHere(described) === false;
}

/** Undefined for a process of another machine, or where nothing is known of it. WRITER-PROCESS-1 */
export function existsHere(described: unknown): boolean | undefined {
  if (typeof described !== 'string' || described === '') return undefined;
  try {
    const { namespace, owner } = JSON.parse(described) as WriterProcess;
    return namespace === processNamespace() ? isOwnerAlive(owner) : undefined;
  } catch {
    return undefined; // written by a program of another kind
  }
}

/** The namespace of process numbers, with the boot that they count from. */
function processNamespace(): string {
  try {
    const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${boot} ${fs.readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}
