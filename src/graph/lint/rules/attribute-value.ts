import { ATTRIBUTES } from '../../attributes.js';
import type { LintRule, Vocabulary } from '../rule.js';
import { attributesOf, type Written } from '../written.js';

const BACKENDS = 'simulated, cmd:COMMAND, worker:COMMAND or exe:FILE.mld#NAME';

/** Typed attributes hold a value of their type and range. */
export const attributeValue: LintRule = {
  severity: 'error',
  *check(graph, vocabulary) {
    for (const written of attributesOf(graph)) {
      const expected = unmet(written, vocabulary);
      if (expected === undefined) continue;
      const { key, owner, about, attribute } = written;
      const { text, at } = attribute.value;
      yield { message: `\`${key}\` of ${owner} is \`${text}\`: expected ${expected}`, ...about, at, fix: `write ${expected}` };
    }
  },
};

/** What was expected and not written. */
function unmet({ of, key, attribute }: Written, vocabulary: Vocabulary): string | undefined {
  const { text } = attribute.value;
  if (key === 'backend' && of !== 'edge') return text === '' || isBackend(text, vocabulary) ? undefined : BACKENDS;
  const table = ATTRIBUTES[of];
  const type = Object.hasOwn(table, key) ? table[key] : undefined;
  if (!type || type.read(text) !== undefined || (text === '' && type.mayBeEmpty)) return undefined;
  return type.name;
}

function isBackend(text: string, { backends }: Vocabulary): boolean {
  if (/^(?:simulated|(?:cmd|worker):\s*\S.*|exe:.+#[A-Za-z_]\w*)$/s.test(text)) return true;
  return backends?.has(text.replace(/:.*$/s, '')) ?? false;
}
