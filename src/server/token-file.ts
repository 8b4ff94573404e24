/** Reads the file of tokens: a role (`read` or `run`) and a token in each line. Messages about a line do not show its token. */
import { MlldError } from '../errors.js';
import type { AccessToken, Role } from './access.js';

const LENGTH_MIN = 16;
const ROLES: readonly string[] = ['read', 'run'] satisfies Role[];

/** @throws MlldError SERVE_TOKEN */
export function parseTokenFile(text: string, name: string): readonly AccessToken[] {
  const tokens = text.split(/\r?\n/).flatMap((line, index): readonly AccessToken[] => {
    const [role = '', token = '', ...more] = line.trim().split(/\s+/);
    if (role === '' || role.startsWith('#')) return [];
    const wrong = (reason: string): MlldError =>
      new MlldError('SERVE_TOKEN', `${name}, line ${index + 1}: ${reason}`, {
        hint: 'a line is a role and a token, as in: read 5f0c… (openssl rand -hex 32 makes one)',
      });
    if (!isRole(role) || token === '' || more.length > 0) throw wrong('it is not a role (read or run) and a token');
    if (token.length < LENGTH_MIN) throw wrong(`the token has ${token.length} characters, and needs ${LENGTH_MIN} or more`);
    return [{ role, token }];
  });
  if (tokens.length === 0) throw new MlldError('SERVE_TOKEN', `${name} has no token`, { hint: 'write a line such as: read 5f0c…' });
  const twice = tokens.find(({ token }, index) => tokens.findIndex((each) => each.token === token) !== index);
  if (twice) throw new MlldError('SERVE_TOKEN', `${name} has one token twice`, { hint: 'each role needs a token of its own' });
  return tokens;
}

function isRole(text: string): text is Role {
  return ROLES.includes(text);
}
