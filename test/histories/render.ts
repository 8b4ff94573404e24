/** Scripts as mlld text. */
import { DRAFTS, givesValue, type Argument, type Call, type Library, type Literal, type Part, type Script, type Width } from './script.js';

/**
 * Executes every call, also in a process of its own. Writes the call into `calls.log` before it returns; the result says how often the call
 * was executed so far, so that no two executions return the same. A kill waits for an llm function, because a posted fact may be lost.
 * Calls in `broken.json` fail. The result takes a few rounds of the event loop.
 */
export const ANSWERING = `const fs = require('fs');
const path = require('path');
const log = path.join(__dirname, 'calls.log');
const textOf = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
exports.answer = async (name, tag, ...args) => {
  if (fs.existsSync(path.join(__dirname, 'dead.txt'))) return new Promise(() => {});
  const line = name + ' ' + JSON.stringify(args);
  fs.appendFileSync(log, line + '\\n');
  const lines = fs.readFileSync(log, 'utf8').split('\\n');
  const count = lines.filter((other) => other === line).length;
  const kill = path.join(__dirname, 'kill.txt');
  if (name !== 'poll' && fs.existsSync(kill) && lines.length - 1 >= Number(fs.readFileSync(kill, 'utf8'))) process.kill(process.pid, 'SIGKILL');
  for (let turns = (line.length * 7) % 5; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
  const broken = JSON.parse(fs.readFileSync(path.join(__dirname, 'broken.json'), 'utf8'));
  if (broken.includes(textOf(args[0]))) throw new Error('broken');
  return tag + '(' + args.map(textOf).join(',') + ')#' + count;
};
`;

export function renderLibrary({ asker, checkpoint }: Library): string {
  return lines(
    `exe llm @${asker}(q) = ${answering(asker, 'lib', 'q')}`,
    'exe @scan(q) = [',
    `  let @found = @${asker}(@q)`,
    '  => `scan @found`',
    ']',
    ...(checkpoint === undefined ? [] : [`checkpoint "${checkpoint}"`]),
    'export { @scan }',
  );
}

export function renderScript({ header, functions, parts }: Script): string {
  const { askName, surveyName, edition, isPollLlm, reviewer, reviewModel, surveyAsks, surveyWidth, surveyPrefix, surveyEdges } = functions;
  const names: Names = (fn) => (fn === 'ask' ? askName : fn === 'survey' ? surveyName : fn);
  return lines(
    ...(header === undefined ? [] : [`resume: ${header}`]),
    'import { @scan } from "./lib.mld"',
    'exe @joined(parts) = js { return parts.flat().map((part) => (typeof part === "string" ? part : "failed:" + part.value)).join("+") }',
    'exe @again(draft) = when [',
    `  @mx.try < ${DRAFTS} => retry "again"`,
    '  * => @draft',
    ']',
    `exe llm @${askName}(q) = ${answering(askName, `${askName}${edition}`, 'q')}`,
    `exe llm @grade(q, model) = ${answering('grade', 'grade', 'q, model')}`,
    `exe ${isPollLlm ? 'llm ' : ''}@poll(q, model) = ${answering('poll', 'poll', 'q, model')}`,
    `exe llm @review(q) = @${names(reviewer)}(@q${reviewer === 'poll' ? `, "${reviewModel}"` : ''})`,
    'exe llm @outer(q) = [',
    `  let @inner = @${askName}(@q)`,
    '  => `outer @inner`',
    ']',
    `exe @${surveyName}(list) = [`,
    surveyEdges ? `  let @before = @${askName}("before")` : '  let @before = "start"',
    `  let @each = ${loop(surveyWidth)} @i in @list => @${names(surveyAsks)}(\`${surveyPrefix}@i\`)`,
    surveyEdges ? `  let @after = @${askName}("after")` : '  let @after = "end"',
    '  => @joined([@before, @each, @after])',
    ']',
    'exe @round(q) = [',
    `  let @tour_ = @${surveyName}(["ebb", @q])`,
    `  let @last = @${askName}(@q)`,
    '  => @joined([@tour_, @last])',
    ']',
    'var @yes = true',
    ...parts.flatMap((part, at) => renderPart(part, at, parts, names)),
  );
}

type Names = (fn: string) => string;

function answering(name: string, tag: string, parameters: string): string {
  return `node { return require("./answering.cjs").answer("${name}", "${tag}", ${parameters}) }`;
}

function loop(width: Width): string {
  return width === 'sequential' ? 'for' : `for parallel(${width})`;
}

function renderPart(part: Part, at: number, parts: readonly Part[], names: Names): string[] {
  const variable = `@v${at}`;
  const argument = (given: Argument): string => renderArgument(given, earlierOf(parts, at), names);
  const call = (made: Call): string => {
    if (made.kind === 'survey') return `@${names('survey')}(${list(made.items)})`;
    return `@${names(made.fn)}(${argument(made.question)}${takesModel(made.fn) ? `, "${made.model}"` : ''})`;
  };
  switch (part.kind) {
    case 'value':
      return [`var ${variable} = ${call(part.call)}`, `show ${variable}`];
    case 'labelled':
      return [`var llm ${variable} = ${call({ ...part, kind: 'asker' })}`, `show ${variable}`];
    case 'show':
      return [`show ${call(part.call)}`];
    case 'run':
      return [`run @${names('ask')}(${argument(part.question)})`];
    case 'piped':
      return [
        `var ${variable} = ${JSON.stringify(part.text)} | @${names(part.fn)}${part.fn === 'grade' ? `("${part.model}")` : ''}`,
        `show ${variable}`,
      ];
    case 'retried':
      return [`var ${variable} = @${names('ask')}(${JSON.stringify(part.text)}) | @again`, `show ${variable}`];
    case 'each':
      return [`for @i in ${list(part.items)} => show @${names(part.fn)}(@i${takesModel(part.fn) ? ', "small"' : ''})`];
    case 'gathered':
      return [
        `var @g${at} = ${loop(part.width)} @i in ${list(part.items)} => @${names(part.fn)}(@i${takesModel(part.fn) ? ', "small"' : ''})`,
        `var ${variable} = @joined(@g${at})`,
        `show ${variable}`,
      ];
    case 'checkpoint':
      if (part.form === 'plain') return [`checkpoint "${part.name}"`];
      return [`when ${part.form === 'taken' ? '@yes' : '!@yes'} => checkpoint "${part.name}"`];
  }
}

function renderArgument(argument: Argument, earlier: number | undefined, names: Names): string {
  switch (argument.kind) {
    case 'literal':
      return JSON.stringify(argument.value);
    case 'earlier':
      return earlier === undefined ? '"nothing"' : `@v${earlier}`;
    case 'answer':
      return `@${names('ask')}(${JSON.stringify(argument.of.value)})`;
  }
}

/** The place of the part above that `earlier` names. */
function earlierOf(parts: readonly Part[], at: number): number | undefined {
  const found = parts.slice(0, at).findLastIndex(givesValue);
  return found < 0 ? undefined : found;
}

export function takesModel(fn: string): boolean {
  return fn === 'grade' || fn === 'poll';
}

function list(items: readonly Literal[]): string {
  return `[${items.map((item) => JSON.stringify(item)).join(', ')}]`;
}

function lines(...texts: readonly string[]): string {
  return `${texts.join('\n')}\n`;
}
