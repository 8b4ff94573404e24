/** Finds imports and templates that can't work, whatever the files hold. world.md 11.3, 11.4, 13.1 and 13.4. */
import path from 'node:path';
import type { Import } from '../../../grammar/ast.js';
import type { Rule, Violation } from '../rule.js';
import { staticText } from '../static-path.js';
import { topLevel } from '../top-level.js';

const TEMPLATE = /\.(att|mtt)$/i;

export const importFormsRule: Rule = {
  code: 'import-form',
  list: 'errors',
  *check({ script }) {
    for (const statement of topLevel(script)) {
      if (statement.kind === 'import') yield* importForm(statement);
      if (statement.kind !== 'exe' || statement.body.kind !== 'template-file') continue;
      const { path: file } = statement.body;
      const name = staticText(file);
      if (name === undefined || TEMPLATE.test(name)) continue;
      yield { at: file.at, message: `${name} is not a template file: its name must end in .att or .mtt` };
    }
  },
};

function* importForm({ type, source, written, at, alias, params }: Import): Generator<Violation> {
  if (type === 'templates') {
    if (source.kind === 'node') yield { at, message: `import templates can't be used with ${written}` };
    if (alias === undefined || !params)
      yield {
        at,
        message: `import templates from "${written}" needs a name and parameters`,
        hint: `write: import templates from "${written}" as @name(a, b)`,
      };
    return;
  }
  const rest = source.kind === 'provided' ? path.posix.normalize(source.name.replace(/^@[^/]*\/?/, '')) : '';
  if (rest === '..' || rest.startsWith('../')) {
    yield { at: source.at, message: `${written} leaves the folder of its resolver prefix`, hint: 'write @root/… for a file elsewhere' };
  }
  const isNamed = (type === 'module' || type === 'local') && source.kind === 'provided';
  if (type !== undefined && !isNamed && (type !== 'static' || source.kind !== 'path')) {
    yield { at, message: `import ${type} can't be used with ${written}`, hint: 'leave the type out' };
  }
  if (TEMPLATE.test(path.posix.basename(written))) {
    yield {
      at: source.at,
      message: `${written} is a template, and templates are not imported`,
      hint: `declare a function for it: exe @name(…) = template "${written}"`,
    };
  }
}
