/** The files of a validation, each read and parsed once. */
import path from 'node:path';
import type { Script, Template } from '../../../grammar/ast.js';
import { SyntaxFailure } from '../../../grammar/errors.js';
import { withPlainLineEnds } from '../../../grammar/line-ends.js';
import { parseTemplateFile } from '../../../grammar/parse.js';
import type { NeedsHost } from '../needs/check-needs.js';
import type { ParsedScript } from '../rule.js';
import type { SourceFiles } from '../../world/files/source-files.js';
import type { PathSettings } from '../static-path.js';
import { symbolsOf, type Symbols } from '../symbols.js';
import { reparsed } from '../reparse.js';
import { parseReportingAll } from '../syntax-errors.js';

export interface Workspace extends PathSettings, Pick<NeedsHost, 'searchPath'> {
  /** The folder of published modules, absolute; by default `.mlld/modules` of the project. */
  readonly modulesFolder?: string;
  /** Names of modules that the run is given. */
  readonly injected?: ReadonlySet<string>;
  readonly files: SourceFiles;
  /** Returns a path as messages show it. */
  readonly display: (absolute: string) => string;
  readonly script: (absolute: string) => Promise<Opened<ParsedScript>>;
  readonly template: (absolute: string) => Promise<Opened<ParsedTemplate>>;
  /** Overrides, by path, the mode that follows from a file's extension. */
  readonly modes?: ReadonlyMap<string, Script['mode']>;
  readonly sources?: ParsedSources;
  /** Returns the files that were opened so far and could be parsed. */
  readonly parsed: () => Promise<readonly (ParsedScript | ParsedTemplate)[]>;
}

/** Holds what was parsed, by path, for the next workspace over the same files: an editor opens one after each change of a text. */
export type ParsedSources = Map<string, ParsedSource>;

interface ParsedSource {
  readonly text: string;
  readonly opened: Opened<ParsedScript> | Opened<ParsedTemplate>;
  /** Is the last state of a script that could be parsed. */
  readonly sound?: ParsedScript;
}

export interface ParsedTemplate {
  readonly display: string;
  readonly absolute: string;
  readonly text: string;
  readonly template: Template;
  readonly symbols: Symbols;
}

export type Opened<T> =
  { readonly kind: 'parsed'; readonly file: T } | { readonly kind: 'broken'; readonly file: Broken } | { readonly kind: 'missing' };

export interface Broken {
  readonly display: string;
  readonly text: string;
  readonly failures: readonly SyntaxFailure[];
  /** Is the last state of a script that could be parsed. */
  readonly sound?: ParsedScript;
}

export function openWorkspace({
  files,
  display,
  modes,
  sources,
  ...paths
}: PathSettings & Pick<Workspace, 'files' | 'display' | 'modes' | 'searchPath' | 'modulesFolder' | 'injected' | 'sources'>): Workspace {
  const scripts = new Map<string, Promise<Opened<ParsedScript>>>();
  const templates = new Map<string, Promise<Opened<ParsedTemplate>>>();

  async function readSource(absolute: string): Promise<string | undefined> {
    const text = await files.readText(absolute);
    return text === undefined ? undefined : withPlainLineEnds(text);
  }

  /** Opens a source unless its text was parsed already. Sound because a path has either a script or a template. */
  async function opened<T>(absolute: string, parse: (text: string, sound?: ParsedScript) => Opened<T>): Promise<Opened<T>> {
    const text = await readSource(absolute);
    if (text === undefined) return { kind: 'missing' };
    const known = sources?.get(absolute);
    if (known?.text === text) return known.opened as Opened<T>;
    const now = parse(text, known?.sound) as Opened<ParsedScript>;
    const sound = now.kind === 'parsed' && 'script' in now.file ? now.file : known?.sound;
    sources?.set(absolute, { text, opened: now, ...(sound && { sound }) });
    return now as Opened<T>;
  }

  function openScript(absolute: string, text: string, sound: ParsedScript | undefined): Opened<ParsedScript> {
    const facts = { display: display(absolute), absolute, text };
    const script = sound && reparsed(sound, text);
    const parsed = script ? { script } : parseReportingAll(text, modes?.get(absolute) ?? modeOf(absolute));
    if ('failures' in parsed) return { kind: 'broken', file: { ...facts, failures: parsed.failures, ...(sound && { sound }) } };
    return { kind: 'parsed', file: { ...facts, script: parsed.script, symbols: symbolsOf(parsed.script) } };
  }

  function openTemplate(absolute: string, text: string): Opened<ParsedTemplate> {
    const facts = { display: display(absolute), absolute, text };
    try {
      const template = parseTemplateFile(text, absolute.toLowerCase().endsWith('.mtt') ? 'mtt' : 'att');
      return { kind: 'parsed', file: { ...facts, template, symbols: symbolsOf(template) } };
    } catch (error) {
      if (error instanceof SyntaxFailure) return { kind: 'broken', file: { ...facts, failures: [error] } };
      throw error;
    }
  }

  return {
    ...paths,
    files,
    display,
    script: once(scripts, (absolute) => opened(absolute, (text, sound) => openScript(absolute, text, sound))),
    template: once(templates, (absolute) => opened(absolute, (text) => openTemplate(absolute, text))),
    async parsed() {
      const opened = await Promise.all<Opened<ParsedScript | ParsedTemplate>>([...scripts.values(), ...templates.values()]);
      return opened.flatMap((each) => (each.kind === 'parsed' ? [each.file] : []));
    },
  };
}

/** Returns the mode that a run derives from the extension. world.md 17.1. */
function modeOf(absolute: string): Script['mode'] {
  return path.extname(absolute).toLowerCase() === '.md' ? 'markdown' : 'strict';
}

function once<T>(known: Map<string, Promise<T>>, open: (absolute: string) => Promise<T>): (absolute: string) => Promise<T> {
  return (absolute) => {
    const opened = known.get(absolute) ?? open(absolute);
    known.set(absolute, opened);
    return opened;
  };
}
