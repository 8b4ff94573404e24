/**
 * Measures the time from a change of a 2,000-line file to its problems, in `mlld lsp`, and to the answers of other requests.
 *
 *   node bench/lsp.mjs [changes]
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
const text = `${Array.from({ length: BLOCKS }, (_, i) => block(i).join('\n')).join('\n')}\n`;
const lines = text.split('\n').length - 1;

const child = spawn(process.execPath, [fileURLToPath(new URL('../dist/mlld.cjs', import.meta.url)), 'lsp'], {
  cwd: folder,
  stdio: ['pipe', 'pipe', 'inherit'],
});
const connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
let published = () => undefined;
connection.onNotification('textDocument/publishDiagnostics', (params) => published(params));
connection.listen();
await connection.sendRequest('initialize', { processId: null, rootUri: null, capabilities: {} });
await connection.sendNotification('initialized', {});

const uri = pathToFileURL(path.join(folder, 'big.mld')).href;
const middle = { line: lines / 2 - 3, character: 16 };
const nextProblems = () => new Promise((resolve) => (published = resolve));
const opened = nextProblems();
await connection.sendNotification('textDocument/didOpen', { textDocument: { uri, languageId: 'mlld', version: 1, text } });
await opened;

const times = { problems: [], completion: [], hover: [], definition: [] };
for (let change = 0; change < CHANGES; change++) {
  // A name in the middle of the file is misspelt, and put right by the next change.
  const from = { line: middle.line, character: 16 };
  const isTyped = change % 2 === 0;
  const range = { start: from, end: { ...from, character: from.character + (isTyped ? 0 : 1) } };
  const start = performance.now();
  const come = nextProblems();
  await connection.sendNotification('textDocument/didChange', {
    textDocument: { uri, version: change + 2 },
    contentChanges: [{ range, text: isTyped ? 'x' : '' }],
  });
  await come;
  times.problems.push(performance.now() - start);
  for (const request of ['completion', 'hover', 'definition']) {
    const asked = performance.now();
    await connection.sendRequest(`textDocument/${request}`, { textDocument: { uri }, position: middle });
    times[request].push(performance.now() - asked);
  }
}
await connection.sendRequest('shutdown');
await connection.sendNotification('exit');
rmSync(folder, { recursive: true, force: true });

const quantile = (list, q) => list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) * q)].toFixed(0);
console.log(`${lines} lines, ${CHANGES} changes; load ${os.loadavg()[0].toFixed(1)} on ${os.cpus().length} processors`);
for (const [name, list] of Object.entries(times))
  console.log(`${name.padEnd(11)} median ${quantile(list, 0.5)} ms, 9 of 10 below ${quantile(list, 0.9)} ms, best ${quantile(list, 0)} ms`);
