/** An address in the place of a path: a run loads files only. docs/not-in-the-language.md */
import type { Rule } from '../rule.js';
import { loadsOf } from '../loads-of.js';

export const loadedAddressesRule: Rule = {
  code: 'loaded-address',
  list: 'warnings',
  *check({ script }) {
    for (const { at, path } of loadsOf(script)) {
      const [first] = path;
      if (first?.kind !== 'text' || !/^https?:\/\//i.test(first.text)) continue;
      yield { at, message: 'loading an address is not part of this runtime', hint: 'fetch it with `cmd { curl … }`' };
    }
  },
};
