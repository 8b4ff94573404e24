/**
 * Looks a password up in the file that PostgreSQL programs share (`~/.pgpass`): lines of `host:port:database:user:password`, where `*`
 * stands for anything and `\` is before a `:` or `\` that is meant as it is. The first line that fits counts: it is the more specific one,
 * and one behind it holds the password of another server, which this one must not get.
 */
import { readFile, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { codeOf, JournalError } from '../../errors.js';

export interface Login {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

const FIELD = String.raw`((?:\\.|[^\\:])*)`;
const LINE = new RegExp(`^${`${FIELD}:`.repeat(4)}(.+)$`);
const OTHERS_MAY = 0o077;

/** Undefined where there is no such file, or no line for this login in it. Throws STORE_REFUSED where others may read it, or nobody can. */
export async function passwordIn(file: string, login: Login): Promise<string | undefined> {
  const text = await textOf(file);
  if (text === undefined) return undefined;
  const wanted = [login.host, String(login.port), login.database, login.user];
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const [, ...fields] = line.startsWith('#') ? [] : (LINE.exec(line) ?? []);
    const password = fields.pop();
    if (password !== undefined && fields.every((field, i) => field === '*' || asMeant(field) === wanted[i])) return asMeant(password);
  }
  return undefined;
}

function asMeant(field: string): string {
  return field.replaceAll(/\\([:\\])/g, '$1');
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    const found = await stat(file);
    if (!found.isFile()) return undefined;
    if (platform() !== 'win32' && (found.mode & OTHERS_MAY) !== 0) throw othersMay(file);
    return await readFile(file, 'utf8');
  } catch (cause) {
    const code = codeOf(cause);
    if (cause instanceof JournalError || code === undefined) throw cause;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new JournalError('STORE_REFUSED', `the file of passwords can't be read: ${(cause as Error).message}`, {
      hint: 'make it readable, or set PGPASSWORD',
      cause,
    });
  }
}

function othersMay(file: string): JournalError {
  return new JournalError('STORE_REFUSED', `the file of passwords ${file} is not used: others may read or change it`, {
    hint: `chmod 600 ${file}`,
  });
}
