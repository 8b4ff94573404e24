/** Holds each name, and each set of names, once: a fold of a million calls sees the same few again and again. */

export interface InternedNames {
  readonly interned: Map<string, string>;
  readonly insides: Map<string, readonly string[]>;
}

export const NO_NAMES: readonly string[] = [];

/** One array per distinct set of names. */
export function internNames(state: Pick<InternedNames, 'insides'>, names: readonly string[]): readonly string[] {
  if (names.length === 0) return NO_NAMES;
  const id = names.join('\n');
  const shared = state.insides.get(id);
  if (shared !== undefined) return shared;
  state.insides.set(id, names);
  return names;
}

export function intern(state: InternedNames, text: string): string {
  const shared = state.interned.get(text);
  if (shared !== undefined) return shared;
  state.interned.set(text, text);
  return text;
}

export function internMaybe(state: InternedNames, text: string | undefined): string | undefined {
  return text === undefined ? undefined : intern(state, text);
}
