/**
 * Measures the time from a change of a script to its problems, in `mlld lsp`, and to the answers of other requests: of a script of 2,000
 * lines, or of the one that is named, in its place.
 *
 *   node bench/lsp.mjs [changes] [script]
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createProtocolConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver-protocol/node';

const CHANGES = Number(process.argv[2] ?? 40);
const BLOCKS = 200;

const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-lsp-'));
writeFileSync(path.join(folder, 'mlld-config.json'), '{}\n');
const block = (i) => [
  `>> Reviews one file, way ${i}.`,
  `exe llm @review${i}(file, prompt) = cmd { echo "@prompt @file" } with { timeout: 5m }`,
  `var @files${i} = ["a.md", "b.md", "c${i}.md"]`,
  `var @conf${i} = { name: "n${i}", limits: { top: ${i}, low: 1 } }`,
  `var @r${i} = for @f in @files${i} => @review${i}(@f, "look at @conf${i}.name")`,
  `if @r${i}.length > 1 [`,
  `  let @best = @r${i}[0]`,
  `  show \`Best: @best of @conf${i}.limits.top\``,
  ']',
  '',
];
const generated = `${Array.from({ length: BLOCKS }, (_, i) => block(i).join('\n')).join('\n')}\n`;
const script = process.argv[3] && path.resolve(process.argv[3]);
const text = script ? readFileSync(script, 'utf8') : generated;
const lines = text.split('\n').length - 1;

const child = spawn(process.execPath, [fileURLToPath(new URL('../dist/mlld.cjs', import.meta.url)), 'lsp'], {
  cwd: script ? path.dirname(script) : folder,
  stdio: ['pipe', 'pipe', 'inherit'],
});
const connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
let published = () => undefined;
connection.onNotification('textDocument/publishDiagnostics', (params) => published(params));
connection.listen();
await connection.sendRequest('initialize', { processId: null, rootUri: null, capabilities: {} });
await connection.sendNotification('initialized', {});

const uri = pathToFileURL(script ?? path.join(folder, 'big.mld')).href;
const middle = nearestName(text, Math.floor(lines / 2));
const nextProblems = () => new Promise((resolve) => (published = resolve));
const opened = nextProblems();
await connection.sendNotification('textDocument/didOpen', { textDocument: { uri, languageId: 'mlld', version: 1, text } });
await opened;

/** What is typed: a name is misspelt, and a bracket is opened that nothing closes. Each is put right by the next change. */
const TYPED = ['x', '('];
const REQUESTS = ['completion', 'hover', 'definition'];
const times = {};
const note = (what, isBroken, sinceMs) => (times[isBroken ? `${what}, broken` : what] ??= []).push(performance.now() - sinceMs);
for (let change = 0; change < CHANGES; change++) {
  const typed = TYPED[Math.floor(change / 2) % TYPED.length];
  const isTyped = change % 2 === 0;
  const range = { start: middle, end: { ...middle, character: middle.character + (isTyped ? 0 : 1) } };
  const start = performance.now();
  const come = nextProblems();
  await connection.sendNotification('textDocument/didChange', {
    textDocument: { uri, version: change + 2 },
    contentChanges: [{ range, text: isTyped ? typed : '' }],
  });
  await come;
  const isBroken = isTyped && typed === '(';
  note('problems', isBroken, start);
  for (const request of REQUESTS) {
    const asked = performance.now();
    await connection.sendRequest(`textDocument/${request}`, { textDocument: { uri }, position: middle });
    note(request, isBroken, asked);
  }
}
await connection.sendRequest('shutdown');
await connection.sendNotification('exit');
rmSync(folder, { recursive: true, force: true });

/** Returns the end of the first name of a line in or below the middle. */
function nearestName(written, from) {
  const all = written.split('\n');
  for (let line = from; line < all.length; line++) {
    const found = /^\s*(?:if|show|let|var|for|exe|=>).*?@[A-Za-z_]\w*/.exec(all[line]);
    if (found) return { line, character: found[0].length };
  }
  throw new Error('the script has no name in its second half');
}

const quantile = (list, q) => list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) * q)].toFixed(0);
console.log(`${lines} lines, ${CHANGES} changes; load ${os.loadavg()[0].toFixed(1)} on ${os.cpus().length} processors`);
for (const [name, list] of Object.entries(times))
  console.log(`${name.padEnd(18)} median ${quantile(list, 0.5)} ms, 9 of 10 below ${quantile(list, 0.9)} ms, best ${quantile(list, 0)} ms`);
