/** SHA-256 for the journal and what is made of it: several times per event, so in one place. */
import { hash } from 'node:crypto';

let once: typeof hash | undefined;

/** 64 hex digits; text counts as UTF-8. */
export function sha256Hex(content: string | Uint8Array): string {
  once ??= hash; // Node's module is loaded when it is first needed, and looked up through getters until then
  return once('sha256', content, 'hex');
}
