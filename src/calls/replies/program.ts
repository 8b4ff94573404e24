/** Finds the program that a command line runs. calls.md 7.3. */

/** Words in front of a program that run it without changing what it prints; the value is how many words of their own they take. */
const RUNNERS: { readonly [word: string]: number } = { env: 0, nice: 0, time: 0, timeout: 1, npx: 0, bunx: 0 };

const ASSIGNMENT = /^[A-Za-z_]\w*=/;

/** The base name of the first word behind assignments and runners: `claude` of `X=1 timeout 60 /usr/bin/claude -p`. */
export function programOf(commandLine: string): string | undefined {
  let ownWords = 0;
  for (const word of commandLine.trim().split(/\s+/)) {
    if (ownWords > 0) ownWords--;
    else if (ASSIGNMENT.test(word) || word.startsWith('-')) continue;
    else if (Object.hasOwn(RUNNERS, word)) ownWords = RUNNERS[word] ?? 0;
    else return word === '' ? undefined : baseName(word);
  }
  return undefined;
}

/** True when a word anywhere in the command line is the program: `cat x | claude -p | jq -r .result` names claude. */
export function namesProgram(commandLine: string, program: string): boolean {
  return commandLine.split(/[\s|;&()]+/).some((word) => baseName(word) === program);
}

function baseName(word: string): string {
  return unquoted(word).replace(/^.*\//, '');
}

/** Programs that take the name of a model as `--model` or `-m`. */
const TAKES_MODEL: ReadonlySet<string> = new Set(['claude', 'codex', 'gemini', 'opencode']);

/** A word of a shell: quoted and unquoted pieces without a blank between them. The operators between commands are words of their own. */
const SHELL_WORD = /[|;&()]+|(?:"(?:[^"\\]|\\[^])*"|'[^']*'|\\[^]|[^\s"'\\|;&()])+/g;

/** The model that a command line names for one of the known programs: `gpt-5` of `codex exec -m gpt-5 "…"`. calls.md 10.2 and 12.1. */
export function modelOf(commandLine: string): string | undefined {
  const words = commandLine.match(SHELL_WORD) ?? [];
  const program = words.findIndex((word) => TAKES_MODEL.has(baseName(word)));
  if (program < 0) return undefined;
  for (let at = program + 1; at < words.length; at++) {
    const word = words[at] ?? '';
    if (/^[|;&()]/.test(word)) return undefined;
    if (word === '--model' || word === '-m') return unquoted(words[at + 1] ?? '') || undefined;
    if (word.startsWith('--model=')) return unquoted(word.slice('--model='.length)) || undefined;
  }
  return undefined;
}

/** The session that a command line of claude continues: its id, or true for the latest one. calls.md 7.5.5. */
export function continuedSession(commandLine: string): string | true | undefined {
  const words = commandLine.match(SHELL_WORD) ?? [];
  const program = words.findIndex((word) => baseName(word) === 'claude');
  if (program < 0) return undefined;
  for (let at = program + 1; at < words.length; at++) {
    const word = words[at] ?? '';
    if (/^[|;&()]/.test(word)) return undefined;
    if (word === '--continue' || word === '-c') return true;
    if (word === '--resume' || word === '-r') return unquoted(words[at + 1] ?? '') || true;
    if (word.startsWith('--resume=')) return unquoted(word.slice('--resume='.length)) || true;
  }
  return undefined;
}

function unquoted(word: string): string {
  return word.replace(/^["']|["']$/g, '');
}
