import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { passwordIn } from '../../../../journal/postgres/login/password-file.js';
import { connectClient } from '../../../../journal/postgres/pg-client.js';
import { parseStoreAddress, passwordFileOf } from '../../../../journal/postgres/store-address.js';

const LOGIN = { host: 'db', port: 5432, database: 'mlld', user: 'ada' };

it.each([
  ['db:5432:mlld:ada:s3cret', 's3cret'],
  ['db:5432:mlld:ada:s3cret\r\n', 's3cret'],
  ['\uFEFFdb:5432:mlld:ada:s3cret', 's3cret'],
  ['*:*:*:*:s3cret', 's3cret'],
  ['# db:5432:mlld:ada:old\n#b:5432:mlld:ada:old\n\ndb:5432:mlld:ada:s3cret', 's3cret'],
  ['db:5432:mlld:ada:first\n*:*:*:*:of-another-server', 'first'],
  ['db2:5432:mlld:ada:no\ndb:5433:mlld:ada:no\ndb:5432:other:ada:no\ndb:5432:mlld:bob:no\ndb:*:*:ada:yes', 'yes'],
  [String.raw`db:5432:mlld:ada:a\:b\\c d%é日:e`, String.raw`a:b\c d%é日:e`],
  ['db:5432:mlld:ada:', undefined],
  ['db:5432:mlld:ada', undefined],
  ['', undefined],
])('finds in %j the password %j', async (text, password) => {
  expect(await passwordIn(await fileOf(text), LOGIN)).toBe(password);
});

it('reads a name with a colon', async () => {
  expect(await passwordIn(await fileOf(String.raw`\:\:1:5432:mlld:a\:b:s3cret`), { ...LOGIN, host: '::1', user: 'a:b' })).toBe('s3cret');
});

it('finds nothing where there is no file, or no plain one', async () => {
  expect(await passwordIn('/nowhere/.pgpass', LOGIN)).toBeUndefined();
  expect(await passwordIn('/dev/null', LOGIN)).toBeUndefined();
});

it.each(['640', '604', '620'])('refuses a file of the mode %s, and does not say what is in it', async (mode) => {
  const refused = passwordIn(await fileOf('db:5432:mlld:ada:s3cret', Number.parseInt(mode, 8)), LOGIN);
  await expect(refused).rejects.toMatchObject({ code: 'STORE_REFUSED', hint: expect.stringMatching(/^chmod 600 /) });
  await expect(refused).rejects.not.toThrow('s3cret');
});

it('looks where other programs of PostgreSQL look', () => {
  expect(passwordFileOf({ PGPASSFILE: '/a/b', HOME: '/home/ada' })).toBe('/a/b');
  expect(passwordFileOf({ HOME: '/home/ada' })).toBe('/home/ada/.pgpass');
  expect(passwordFileOf({})).toBeUndefined();
});

it('sends the server the password of the first line that fits, and no warning is written', async () => {
  const server = await serverThatWantsPassword();
  const file = await fileOf('127.0.0.1:*:mlld:ada:s3cret\n*:*:*:*:of-another-server');
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', onWarning);
  try {
    await expect(connect(server.port, { PGPASSFILE: file })).rejects.toThrow('no entry');
    await expect(connect(server.port, { PGPASSFILE: file, PGPASSWORD: 'of-variable' })).rejects.toThrow('no entry');
    const without = connect(server.port, {});
    await expect(without).rejects.toMatchObject({ code: 'STORE_REFUSED', message: expect.stringContaining('wants a password') });
  } finally {
    process.off('warning', onWarning);
    server.close();
  }
  expect(server.passwords).toEqual(['s3cret', 'of-variable']);
  expect(warnings).toEqual([]);
});

async function connect(port: number, environment: { readonly [name: string]: string }): Promise<unknown> {
  const address = parseStoreAddress(`postgres://ada@127.0.0.1:${port}/mlld?project=p`, { environment });
  return connectClient(address, { connectMs: 5000, onLost: () => undefined });
}

/** Asks for a password in clear, keeps it, and lets nobody in. */
async function serverThatWantsPassword() {
  const passwords: string[] = [];
  const wantsPassword = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);
  const fields = Buffer.from('SFATAL\0C28P01\0Mno entry\0\0');
  const refusal = Buffer.concat([Buffer.from([0x45, 0, 0, 0, 4 + fields.length]), fields]);
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(wantsPassword);
      socket.on('data', (sent) => {
        if (sent[0] === 0x70) passwords.push(sent.toString('utf8', 5, sent.length - 1));
        socket.end(refusal);
      });
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, passwords, close: () => server.close() };
}

async function fileOf(text: string, mode = 0o600): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'mlld-pgpass-')), 'pgpass');
  await writeFile(file, text);
  await chmod(file, mode);
  return file;
}
