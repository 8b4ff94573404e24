/** Reads the declarations that the build makes of the library: what it exports, and which types each export names. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** A declaration, by the file that holds it. */
export interface Declaration {
  readonly file: string;
  readonly name: string;
  readonly text: string;
}

interface Module {
  /** Top-level declarations by name. */
  readonly declared: ReadonlyMap<string, string>;
  /** Names that come from another file, by the name that they have here. */
  readonly imported: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
  /** Exported under a name, declared here or imported. */
  readonly exported: ReadonlyMap<string, string>;
  readonly everythingOf: readonly string[];
}

const DECLARED = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|function|const|enum) (\w+)/;

export class DeclaredTypes {
  private readonly modules = new Map<string, Module>();

  /** Every export of a file, by its public name, followed to where it is declared. */
  exportsOf(file: string): ReadonlyMap<string, Declaration> {
    const { exported, everythingOf } = this.module(file);
    const found = new Map<string, Declaration>();
    for (const other of everythingOf) for (const [name, declaration] of this.exportsOf(other)) found.set(name, declaration);
    for (const [name, local] of exported) {
      const declaration = this.resolve(file, local);
      if (declaration) found.set(name, declaration);
    }
    return found;
  }

  /** The types of ours that a declaration names; none for words of the language and of Node. */
  typesIn({ file, text, name }: Declaration): readonly Declaration[] {
    const code = text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/'[^'\n]*'|`[^`]*`/g, '');
    const words = new Set(code.match(/(?<![.\w])[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*\b/g) ?? []);
    return [...words].flatMap((word) => (word === name ? [] : (this.resolve(file, word) ?? [])));
  }

  private resolve(file: string, name: string): Declaration | undefined {
    const { declared, imported, exported } = this.module(file);
    const text = declared.get(name);
    if (text !== undefined) return { file, name, text };
    const from = imported.get(name);
    if (from) return this.exportsOf(from.file).get(from.name) ?? this.resolve(from.file, from.name);
    const local = exported.get(name);
    return local === undefined || local === name ? undefined : this.resolve(file, local);
  }

  private module(file: string): Module {
    const known = this.modules.get(file);
    if (known) return known;
    const made = parse(file, readFileSync(file, 'utf8'));
    this.modules.set(file, made);
    return made;
  }
}

function parse(file: string, text: string): Module {
  const declared = new Map<string, string>();
  const imported = new Map<string, { readonly file: string; readonly name: string }>();
  const exported = new Map<string, string>();
  const everythingOf: string[] = [];
  for (const statement of statementsOf(text)) {
    const [, keyword, names = '', from] = /^(import|export)(?: type)? \{([^}]*)\}(?: from '([^']+)')?/.exec(statement) ?? [];
    const target = from?.startsWith('.') ? path.join(path.dirname(file), from.replace(/\.js$/, '.d.ts')) : undefined;
    if (keyword !== undefined) {
      for (const [, name = '', alias = name] of names.matchAll(/(?:type )?(\w+)(?: as (\w+))?/g)) {
        const isLocal = keyword === 'export' && from === undefined;
        if (target !== undefined) imported.set(isLocal || keyword === 'import' ? alias : ` ${alias}`, { file: target, name });
        if (keyword === 'export') exported.set(alias, from === undefined ? name : ` ${alias}`);
      }
      continue;
    }
    const all = /^export (?:type )?\* from '([^']+)'/.exec(statement)?.[1];
    if (all !== undefined) everythingOf.push(path.join(path.dirname(file), all.replace(/\.js$/, '.d.ts')));
    const name = DECLARED.exec(statement)?.[1];
    if (name === undefined) continue;
    declared.set(name, `${declared.get(name) ?? ''}${statement}\n`);
    if (statement.startsWith('export')) exported.set(name, name);
  }
  return { declared, imported, exported, everythingOf };
}

/** A statement begins at the beginning of a line, and not with what ends one. */
function statementsOf(text: string): readonly string[] {
  const code = text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/^\s*\n/gm, '');
  return code.split(/\n(?=[a-z])/);
}
