/** The environment of a process as code of scripts may see it. */
export { withoutOwnSecrets } from '../../session/ports/own-secrets.js';
