/** Answers the requests of an editor about a place in a file. */
import {
  completionAt, completionBeside, definitionAt, hoverAt, offsetAt, outlineOf, readableScript, renameAt, renamingAt,
  type Editor, type OutlineEntry, type ProjectView, type Suggestion,
} from '../../../src/api/commands/editor/texts.js'; // prettier-ignore
import { CompletionItemKind, ErrorCodes, MarkupKind, refusal, SymbolKind, type Connection } from './language-server-protocol.js';
import { fileOf, uriOf } from './uris.js';

type Script = NonNullable<Awaited<ReturnType<typeof readableScript>>>;

const SUGGESTIONS = {
  variable: CompletionItemKind.Variable,
  function: CompletionItemKind.Function,
  field: CompletionItemKind.Field,
  method: CompletionItemKind.Method,
  option: CompletionItemKind.Property,
  keyword: CompletionItemKind.Keyword,
} as const satisfies { readonly [kind in Suggestion['kind']]: CompletionItemKind };

const SYMBOLS = {
  function: SymbolKind.Function,
  variable: SymbolKind.Variable,
  import: SymbolKind.Module,
  interceptor: SymbolKind.Event,
  checkpoint: SymbolKind.Key,
} as const satisfies { readonly [kind in OutlineEntry['kind']]: SymbolKind };

interface Placed {
  readonly textDocument: { readonly uri: string };
  readonly position: { readonly line: number; readonly character: number };
}

export function answerRequests(connection: Connection, editor: Editor): void {
  /** Files that are no scripts have no names: the answer about them is empty. */
  async function inScript<T>(uri: string, answer: (script: Script, view: ProjectView) => T | Promise<T>): Promise<T | undefined> {
    const file = fileOf(uri);
    if (file === undefined) return undefined;
    const view = await editor.viewFor(file);
    const script = await readableScript(file, view);
    return script && answer(script, view);
  }
  function at<T>({ textDocument, position }: Placed, answer: (script: Script, at: number, view: ProjectView) => T | Promise<T>) {
    return inScript(textDocument.uri, (script, view) => answer(script, offsetAt(script.text, position), view));
  }

  async function beside({ textDocument, position }: Placed): Promise<readonly Suggestion[] | undefined> {
    const file = fileOf(textDocument.uri);
    const text = file === undefined ? undefined : editor.textOf(file);
    if (file === undefined || text === undefined) return undefined;
    return completionBeside(file, text, position, await editor.viewFor(file));
  }

  connection.onHover(async (params) => {
    const hover = await at(params, hoverAt);
    return hover ? { contents: { kind: MarkupKind.Markdown, value: hover.markdown }, range: hover.range } : null;
  });
  connection.onDefinition(async (params) => {
    const place = await at(params, definitionAt);
    return place ? { uri: uriOf(place.absolute), range: place.range } : null;
  });
  connection.onDocumentSymbol(async ({ textDocument }) => {
    const entries = (await inScript(textDocument.uri, outlineOf)) ?? [];
    return entries.map(({ name, kind, detail, range }) => ({
      name,
      kind: SYMBOLS[kind],
      range,
      selectionRange: { start: range.start, end: range.start },
      ...(detail !== undefined && { detail }),
    }));
  });
  connection.onCompletion(async (params) => {
    const suggestions = (await at(params, completionAt)) ?? (await beside(params)) ?? [];
    // The order is ours: names of the script first.
    return suggestions.map(({ label, kind, detail }, index) => ({
      label,
      kind: SUGGESTIONS[kind],
      sortText: String(index).padStart(5, '0'),
      ...(detail !== undefined && { detail }),
    }));
  });
  connection.onPrepareRename(async (params) => {
    const renaming = await at(params, renamingAt);
    if (renaming === undefined) return null;
    if ('refused' in renaming) throw refusal(ErrorCodes.InvalidRequest, renaming.refused);
    return { range: renaming.range, placeholder: renaming.name };
  });
  connection.onRenameRequest(async (params) => {
    const edits = await at(params, (script, place, view) => renameAt(script, place, params.newName, view));
    if (edits === undefined) return null;
    if ('refused' in edits) throw refusal(ErrorCodes.InvalidRequest, edits.refused);
    return { changes: { [params.textDocument.uri]: edits.map(({ range, text }) => ({ range, newText: text })) } };
  });
}
