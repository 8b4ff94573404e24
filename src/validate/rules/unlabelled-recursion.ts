/** Finds functions that are called again while they run, and lack the label `recursive`. control.md 6. */
import { locate } from '../../../grammar/parse.js';
import type { ParsedScript, Rule, Violation } from '../rule.js';
import type { Declaration, Use } from '../static-scope.js';

/** Reports functions that call themselves. A run ends at such a call, and may never reach it. */
export const ownRecursionRule: Rule = {
  code: 'unlabelled-recursion',
  list: 'antiPatterns',
  check: (file) => unlabelled(file, ({ within, target }) => within === target),
};

/** Reports circles of functions as warnings only, because a run may never complete the circle. */
export const mutualRecursionRule: Rule = {
  code: 'unlabelled-circle',
  list: 'antiPatterns',
  check(file) {
    const calls = callsBetween(file);
    return unlabelled(file, ({ within, target }) => within !== target && target !== undefined && reaches(target, within, calls));
  },
};

type Circle = (call: Use) => boolean;

/** Yields one violation for each function, at its name, where the label belongs. */
function* unlabelled({ symbols, text }: ParsedScript, closes: Circle): Generator<Violation> {
  const reported = new Set<Declaration>();
  for (const call of symbols.uses) {
    const { within, target, at } = call;
    if (!isCall(call) || !within || !target?.exe || reported.has(target)) continue;
    if (target.exe.labels.includes('recursive') || !closes(call)) continue;
    reported.add(target);
    const caller = within === target ? 'calls itself' : `is called again by @${within.name} while it runs`;
    yield {
      at: target.at,
      message: `@${target.name} ${caller} (line ${locate(text, at).line}) and lacks the label recursive`,
      hint: `write \`exe ${[...target.exe.labels, 'recursive'].join(', ')} @${target.name}(…) = …\``,
    };
  }
}

function isCall({ argumentsPassed }: Use): boolean {
  return argumentsPassed !== undefined;
}

/** Maps functions to the functions that they call, without those that are in no circle: usually the map is empty. */
function callsBetween({ symbols }: ParsedScript): ReadonlyMap<Declaration, ReadonlySet<Declaration>> {
  const calls = new Map<Declaration, Set<Declaration>>();
  const callers = new Map<Declaration, Declaration[]>();
  for (const use of symbols.uses) {
    const { within, target } = use;
    if (!isCall(use) || !within || !target?.exe) continue;
    calls.set(within, (calls.get(within) ?? new Set()).add(target));
    const known = callers.get(target);
    if (known) known.push(within);
    else callers.set(target, [within]);
  }
  const ending = [...callers.keys()].filter((target) => !calls.has(target));
  for (const target of ending) {
    for (const caller of callers.get(target) ?? []) {
      const rest = calls.get(caller);
      rest?.delete(target);
      if (rest?.size === 0 && calls.delete(caller)) ending.push(caller);
    }
  }
  return calls;
}

function reaches(from: Declaration, goal: Declaration | undefined, calls: ReturnType<typeof callsBetween>): boolean {
  const seen = new Set([from]);
  for (const each of seen) {
    if (each === goal) return true;
    for (const next of calls.get(each) ?? []) seen.add(next);
  }
  return false;
}
