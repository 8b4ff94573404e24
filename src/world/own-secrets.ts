/** Keeps the key of the journal, and the password of the store, from scripts and their commands: what one of them prints is recorded. */
import { withoutPassword } from '../../journal/postgres/store-address.js';

type Environment = { readonly [name: string]: string | undefined };

const KEY = 'MLLD_JOURNAL_KEY';
const STORE = 'MLLD_STORE';

/** Returns the environment that the script and its commands see: without the key of the journal, and the password of a team's store. */
export function withoutOwnSecrets(environment: Environment): Environment {
  const { [KEY]: _, [STORE]: store, ...rest } = environment;
  return { ...rest, ...(store !== undefined && { [STORE]: isAddress(store) ? withoutPassword(store) : store }) };
}

function isAddress(store: string): boolean {
  return store !== '' && store !== 'files';
}
