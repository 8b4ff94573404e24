/** Computes SHA-256, several times per event, in the cheapest way that Node has. */
import { hash } from 'node:crypto';

let once: typeof hash | undefined;

/** Returns 64 hex digits. Text is hashed as UTF-8. */
export function sha256Hex(content: string | Uint8Array): string {
  once ??= hash; // Node's module is loaded when it is first needed, and looked up through getters until then
  return once('sha256', content, 'hex');
}
