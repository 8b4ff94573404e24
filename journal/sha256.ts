/** The only file that hashes for the journal, several times per event. */
import { hash } from 'node:crypto';

let once: typeof hash | undefined;

/** 64 hex digits; text counts as UTF-8. */
export function sha256Hex(content: string | Uint8Array): string {
  once ??= hash; // Node's module is loaded when it is first needed, and looked up through getters until then
  return once('sha256', content, 'hex');
}
