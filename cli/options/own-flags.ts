/** Finds the options that are flags of the script as well. world.md 17.4. */
import type { Preflight } from '../commands/preflight.js';
import type { RunRequest } from './run-request.js';

/** A script that reads the name of an option from `@payload` gets it as well: the name may have been its own before it became an option. */
export async function payloadFor({ payload, optionFlags }: RunRequest, { payloadNames }: Preflight): Promise<RunRequest['payload']> {
  const flags = Object.entries(optionFlags);
  if (flags.length === 0) return payload;
  const read = await payloadNames();
  return Object.fromEntries([...flags.filter(([name]) => read.has(name)), ...Object.entries(payload)]);
}
