import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SyntaxFailure } from '../../grammar/errors.js';
import { locate, parseScript, parseTemplateFile } from '../../grammar/parse.js';

const cases = join(import.meta.dirname, '..', 'conformance');
const areas = ['values', 'control', 'world', 'instrumentation', 'checkpoint'];

/** Scripts of the cases that must be refused, by the place at which they are. */
const refused: Record<string, string> = {
  'values/acc-rejected/method.mld': '1:15',
  'values/bind-let-misuse/field.mld': '3:3',
  'values/bind-let-misuse/label.mld': '2:3',
  'values/bind-let-misuse/top.mld': '2:1',
  'values/bind-no-redeclare/assign.mld': '3:3',
  'values/bind-var-syntax-errors/at.mld': '1:5',
  'values/bind-var-syntax-errors/equals.mld': '2:10',
  'values/bind-var-syntax-errors/name.mld': '1:6',
  'values/bind-var-syntax-errors/unicode.mld': '1:6',
  'values/bind-var-syntax-errors/word.mld': '1:13',
  'values/lex-comment-in-literal/arr.mld': '2:10',
  'values/lex-comment-in-literal/obj.mld': '3:3',
  'values/lex-not-statements/prose.mld': '2:1',
  'values/lex-not-statements/semi.mld': '1:9',
  'values/lex-not-statements/two.mld': '1:12',
  'values/lex-not-statements/word.mld': '2:1',
  'values/lex-parse-error-runs-nothing/main.mld': '3:14',
  'values/lit-number-rejected/dot.mld': '1:10',
  'values/lit-number-rejected/exp.mld': '2:10',
  'values/lit-number-rejected/hex.mld': '1:10',
  'values/lit-number-rejected/minus.mld': '2:10',
  'values/lit-syntax-errors/bool.mld': '1:10',
  'values/lit-syntax-errors/comma.mld': '1:13',
  'values/lit-syntax-errors/key.mld': '1:11',
  'values/lit-syntax-errors/open.mld': '2:10',
  'values/lit-syntax-errors/short.mld': '2:11',
  'values/lit-syntax-errors/spread.mld': '2:11',
  'values/md-block/bad.md': '3:3',
  'values/op-arithmetic-errors/blank.mld': '2:12',
  'values/op-places/show.mld': '2:9',
  'values/pipe-no-at/main.mld': '2:15',
  'values/show-forms/array.mld': '1:6',
  'values/show-forms/none.mld': '1:1',
  'values/show-forms/number.mld': '1:6',
  'values/show-forms/two.mld': '2:9',
  'values/show-forms/word.mld': '2:6',
  'values/str-unclosed/colons.mld': '1:10',
  'values/str-unclosed/double.mld': '2:10',
  'values/str-unclosed/single.mld': '2:10',
  'values/tpl-for-limits/if.mld': '2:1',
  'control/error-status-and-message/parse.mld': '2:11',
  'control/exe-body-run-reference/main.mld': '1:17',
  'control/exe-definition-errors/comma.mld': '1:24',
  'control/exe-definition-errors/nested.mld': '2:3',
  'control/exe-definition-errors/noat.mld': '1:5',
  'control/exe-definition-errors/returns.mld': '3:3',
  'control/for-errors/header.mld': '1:8',
  'control/loop-errors/header.mld': '1:6',
  'control/loop-errors/return.mld': '1:20',
  'control/pipe-errors/noat.mld': '1:16',
  'control/run-cmd-syntax/operators.mld': '1:17',
  'control/scope-errors/field.mld': '3:3',
  'control/when-if-syntax-errors/assign.mld': '2:17',
  'control/when-if-syntax-errors/block.mld': '3:3',
  'control/when-if-syntax-errors/comma.mld': '2:24',
  'control/when-if-syntax-errors/if.mld': '1:9',
  'control/when-if-syntax-errors/none.mld': '3:3',
  'control/when-none-after-star/main.mld': '6:3',
  'control/when-none-after-star-in-function/main.mld': '3:3',
  'world/err-parse/main.mld': '3:1',
  'world/import-alias-needs-at/main.mld': '1:20',
  'world/import-syntax-error/bad.mld': '1:1',
  'world/out-errors/llm/run/c.mld': '2:15',
  'world/out-errors/llm/run/d.mld': '2:11',
  'world/run-preflight/llm/run/bad.mld': '2:1',
  'world/validate-status/bad.mld': '1:1',
  'instrumentation/guard-deny-needs-reason/main.mld': '3:12',
  'instrumentation/hook-only-at-top-level/if.mld': '2:3',
  'instrumentation/hook-only-at-top-level/main.mld': '2:3',
  'instrumentation/hook-syntax-errors/always.mld': '2:9',
  'instrumentation/hook-syntax-errors/bare.mld': '2:20',
  'instrumentation/hook-syntax-errors/case.mld': '2:9',
  'instrumentation/hook-syntax-errors/empty.mld': '2:20',
  'instrumentation/hook-syntax-errors/emptyarg.mld': '2:17',
  'instrumentation/hook-syntax-errors/for.mld': '2:9',
  'instrumentation/hook-syntax-errors/nobody.mld': '2:1',
  'instrumentation/hook-syntax-errors/nofilter.mld': '2:16',
  'instrumentation/hook-syntax-errors/noname-at.mld': '2:6',
  'instrumentation/hook-syntax-errors/notiming.mld': '2:9',
  'instrumentation/hook-syntax-errors/quoted.mld': '2:15',
  'instrumentation/hook-syntax-errors/tick.mld': '2:17',
  'instrumentation/hook-syntax-errors/two.mld': '2:17',
  'instrumentation/label-let-in-block-rejected/main.mld': '2:3',
  'instrumentation/label-let-top-level-rejected/main.mld': '1:1',
  'instrumentation/label-must-start-with-a-letter/main.mld': '1:1',
  'instrumentation/label-two-words-is-an-error/main.mld': '1:1',
  'checkpoint/header-errors/a.mld': '1:1',
  'checkpoint/header-errors/b.mld': '2:1',
  'checkpoint/header-errors/c.mld': '2:1',
  'checkpoint/header-errors/d.mld': '1:1',
  'checkpoint/header-errors/e.mld': '1:1',
  'instrumentation/guard-for-needs-a-filter/main.mld': '1:1',
  'instrumentation/guard-shorthand-needs-privilege/main.mld': '1:37',
  'checkpoint/named-needs-a-string/a.mld': '1:1',
  'checkpoint/named-needs-a-string/b.mld': '1:1',
  'checkpoint/named-needs-a-string/c.mld': '2:1',
  'checkpoint/named-needs-a-string/d.mld': '1:12',
  'checkpoint/named-needs-a-string/e.mld': '1:12',
  'checkpoint/scope-option-errors/a.mld': '1:23',
  'checkpoint/scope-option-errors/b.mld': '1:31',
  'checkpoint/scope-option-errors/c.mld': '1:28',
  'checkpoint/scope-option-errors/d.mld': '1:23',
};

/** Cases whose syntax waits for its feature, by area. */
const { notYet } = JSON.parse(readFileSync(join(cases, 'expected-failures.json'), 'utf8')) as { notYet: { [area: string]: string[] } };

const files = areas.flatMap((area) => sources(join(cases, area)).filter((file) => !waits(area, file)));

describe('the conformance cases', () => {
  it('parse, but for the scripts that must not', () => {
    const found = Object.fromEntries(files.flatMap((file) => failureIn(file)));
    expect(found).toEqual(refused);
  });

  it('are the same trees for the same text, and plain data', () => {
    for (const file of files) {
      if (relative(cases, file).replaceAll('\\', '/') in refused) continue;
      const tree = parse(file);
      expect(JSON.parse(JSON.stringify(tree))).toEqual(tree);
      expect(parse(file)).toEqual(tree);
    }
  });
});

function failureIn(file: string): [string, string][] {
  try {
    parse(file);
    return [];
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    const { line, column } = locate(readFileSync(file, 'utf8'), error.at);
    return [[relative(cases, file).replaceAll('\\', '/'), `${line}:${column}`]];
  }
}

function parse(file: string): unknown {
  const text = readFileSync(file, 'utf8');
  if (file.endsWith('.att')) return parseTemplateFile(text, 'att');
  if (file.endsWith('.mtt')) return parseTemplateFile(text, 'mtt');
  return parseScript(text, { mode: file.endsWith('.md') ? 'markdown' : 'strict' });
}

function waits(area: string, file: string): boolean {
  const [name = ''] = relative(join(cases, area), file).split(/[\\/]/);
  return notYet[area]?.includes(name) ?? false;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => /\.(?:mld|mld\.md|att|mtt)$|[\\/]md-[^\\/]*[\\/][^\\/]*\.md$/.test(file));
}
