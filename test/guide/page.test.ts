/** The equipment of the guide finds what a page does, and is not satisfied with another output. */
import { expect, it } from 'vitest';

import { isShown, stepsOf } from './page.js';
import { play } from './play.js';

const fenced = (info: string, ...lines: readonly string[]): string => ['```' + info, ...lines, '```', ''].join('\n');

it('finds files, commands with what they print, and blocks that do nothing', () => {
  const page = fenced('mlld file=a.mld', 'show 1') + fenced('sh', '$ mlld a.mld', '1', '$ cat \\', '  a.mld', 'show 1') + fenced('js', '1');
  expect(stepsOf(page)).toEqual([
    { kind: 'file', line: 0, name: 'a.mld', text: 'show 1\n' },
    { kind: 'command', line: 4, command: 'mlld a.mld', shown: ['1'], shownFrom: 5 },
    { kind: 'command', line: 6, command: 'cat \\\n  a.mld', shown: ['show 1'], shownFrom: 8 },
    { kind: 'idle', line: 10 },
  ]);
  expect(() => stepsOf('```sh\n$ ls\n')).toThrow('line 1: this block has no end');
});

it('takes what differs from run to run as the same, and nothing else', () => {
  const printed = ['RUN                       TOOK', '20261122-154549-494-jmge  2.2s', '3 calls: 1 executed, 1m2s', '', 'done (a+b)'];
  expect(isShown(['     1 10:00:00.000 12 calls'], ['    12 10:00:00.034 12 calls'])).toBe(true);
  expect(isShown(['     1 10:00:00.000 12 calls'], ['    12 10:00:00.034 13 calls'])).toBe(false);
  const shown = ['RUN        TOOK', '20261123-010203-004-abcd  12ms', '3 calls: 1 executed, 0.4s', '', 'done (a+b)'];
  expect(isShown(shown, printed)).toBe(true);
  expect(isShown(['…', '3 calls: …', '…', 'done (a+b)'], printed)).toBe(true);
  expect(isShown(['…', 'done'], printed)).toBe(false);
  expect(isShown(shown.with(2, '3 calls: 2 executed, 0.4s'), printed)).toBe(false);
  expect(isShown(shown.slice(0, 4), printed)).toBe(false);
  expect(isShown([], printed)).toBe(false);
  expect(isShown([], [])).toBe(true);
});

it('runs commands one after the other in one folder, with the status of the one before', async () => {
  const page = fenced('text file=in/words.txt', 'tide') + fenced('sh', '$ cat in/words.txt', '$ ls lost', '$ echo $?', '$ echo ~/x');
  const played = await play(stepsOf(page));
  expect(played.map(({ printed }) => printed)).toEqual([['tide'], [expect.stringContaining('lost')], ['2'], ['~/x']]);
});

it('does what happens in a story beside the commands of a reader, and says when that fails', async () => {
  const page = '<!-- meanwhile: echo tide > words.txt -->\n' + fenced('', '$ cat words.txt', 'tide');
  expect((await play(stepsOf(page))).map(({ printed }) => printed)).toEqual([['tide']]);
  await expect(play(stepsOf('text\n<!-- meanwhile: cat lost -->\n'))).rejects.toThrow('line 2: cat lost ended with 1: cat: lost');
});

it('shows a killed command as an interactive shell does', async () => {
  const page = fenced('sh', "$ node -e 'process.kill(process.pid, 9)'", 'Killed', '$ echo $?');
  expect((await play(stepsOf(page))).map(({ printed }) => printed)).toEqual([['Killed'], ['137']]);
});

it('has stand-ins for agent programs, which answer by the plan of the page', async () => {
  const page = '<!-- agents: {"default": {"text": "high"}} -->\n' + fenced('sh', `$ mlld -e 'run cmd { claude -p "tide?" }'`, 'high');
  const played = await play(stepsOf(page));
  expect(played.map(({ printed }) => printed)).toEqual([['high']]);
});

it('has a server on a loopback address, which answers by the plan of the page and keeps what it was sent', async () => {
  const page =
    '<!-- server: PORT_URL {"replies": [{"status": 503}, {"body": {"tons": 4}}], "keeps": "sent.txt"} -->\n' +
    fenced(
      'js file=a.mjs',
      'const send = (body) => fetch(process.env.PORT_URL, { method: "POST", body });',
      'console.log((await send("one")).status, await (await send("two")).text(), (await send("three")).status);',
    ) +
    fenced('sh', '$ node a.mjs', '$ cat sent.txt');
  const played = await play(stepsOf(page));
  expect(played.map(({ printed }) => printed)).toEqual([['503 {"tons":4} 200'], ['one', 'two', 'three']]);
});

it('refuses a command that is none of a reader', async () => {
  await expect(play(stepsOf(fenced('sh', '$ curl example.org')))).rejects.toThrow('line 2: a page runs none but mlld, cat');
});
