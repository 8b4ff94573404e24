/** A run whose agents are simulated tries a workflow script, and costs nothing that was paid for. workflows-js.md 7. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const AGENT = `prompt=$(cat)
if [ -e broken ]; then case "$prompt" in *last*) exit 1;; esac; fi
case "$prompt" in *north*) [ -e slow ] && sleep 0.4;; esac
echo "$prompt" >> paid
case "$prompt" in "Draw a card.") echo "card $(grep -c Draw paid)";; *) echo "R:$prompt";; esac
`;

async function project(script: string, files: { readonly [file: string]: string } = {}) {
  const cwd = await projectFolder({
    'agent.sh': AGENT,
    'mlld-config.json': JSON.stringify({ agent: { backend: 'cmd:exec sh agent.sh', parallel: 2 } }),
    '.claude/workflows/m.js': `export const meta = { name: 'm', description: 'd' };\n${script}\n`,
    ...files,
  });
  const at = (file: string): string => path.join(cwd, file);
  return {
    run: (...flags: string[]) => callCli(['run', 'm', ...flags], { cwd }),
    put: (file: string, text = '') => fs.writeFileSync(at(file), text),
    remove: (file: string) => fs.rmSync(at(file)),
    paid: () => fs.readFileSync(at('paid'), 'utf8').trim().split('\n').length,
  };
}
const bySimulated = ['--backend', 'simulated'];

it('leaves the clock and the random numbers of the work alone', async () => {
  const its = await project(`const id = Math.floor(Math.random() * 1e9); const day = new Date(Date.now()).toISOString();
const a = await agent(\`one \${id} \${day}\`); const b = await agent(\`two \${id} \${a.length}\`);
return await agent(\`last \${b.length}\`);`);
  its.put('broken');
  await its.run();
  its.remove('broken');
  expect((await its.run(...bySimulated)).status).toBe(0);
  expect((await its.run('--resume')).stderr).toContain('3 calls: 2 reused, 1 executed');
  expect(its.paid()).toBe(3);
});

it('leaves the calls alone that an agent which had not ended had made inside', async () => {
  const its = await project("return await agent('Q');", {
    'mlld-config.json': '{"agent":{"backend":"exe:ag.mld#ask"}}',
    'ag.mld': `exe llm @sub(n) = node { const fs = require("fs"); fs.appendFileSync("paid", n + "\\n"); if (n.startsWith("2") && fs.existsSync("broken")) throw new Error("broken"); return "S:" + n }
exe llm @ask(prompt, options) = [ let @a = @sub(\`1@prompt\`) let @b = @sub(\`2@prompt\`) => \`@a @b\` ]
export { @ask }
`,
  });
  its.put('broken');
  await its.run();
  its.remove('broken');
  expect((await its.run(...bySimulated)).status).toBe(0);
  const { stdout, stderr } = await its.run('--resume');
  expect(stdout).toBe('S:1Q S:2Q\n');
  expect(stderr).toMatch(/: 1 reused, /);
});

it('leaves each result at the path at which it was recorded', async () => {
  const its = await project(
    "return await pipeline(['north', 'south'], (x) => agent(`Look at ${x}.`), () => agent('Draw a card.'), (c, x) => agent(`Play ${c} at ${x}`));",
  );
  its.put('slow');
  const first = await its.run();
  its.remove('slow');
  await its.run(...bySimulated);
  expect(await its.run('--resume')).toMatchObject({ stdout: first.stdout, stderr: expect.stringContaining('6 calls: 6 reused') });
});

it('reaches no path of the work: a result that was paid for moves there later', async () => {
  const its = await project("return await agent('Q');");
  const write = (script: string): void =>
    its.put('.claude/workflows/m.js', `export const meta = { name: 'm', description: 'd' };\n${script}\n`);
  await its.run();
  write("return await parallel([() => agent('Q'), () => agent('Q')]);");
  await its.run(...bySimulated);
  write("return await parallel([() => agent('P'), () => agent('Q')]);");
  expect((await its.run('--resume')).stderr).toContain('2 calls: 1 reused, 1 executed');
});

it('has no result that waits for the guards of a real agent', async () => {
  const its = await project("return await agent('Q');", {
    'mlld-config.json': '{"agent":{"backend":"cmd:exec sh agent.sh","hooks":"h.mld"}}',
    'h.mld': `exe @k(t) = node { if (require("fs").existsSync("broken")) throw new Error("broken"); return "yes" }
guard @g after @agent = when [
  @k(@output) == "no" => deny "bad"
  * => allow
]
`,
  });
  its.put('broken');
  await its.run(...bySimulated);
  its.remove('broken');
  expect(JSON.parse((await its.run('--resume', '--plan', '--json')).stdout)).toMatchObject({ unjudged: 0, toExecute: [{ prompt: 'Q' }] });
  await its.run('--resume');
  expect(its.paid()).toBe(1);
});
