import * as vscode from 'vscode';

/** A document, and a part of it where that is meant. */
export interface Place {
  uri: string;
  range?: { start: vscode.Position; end: vscode.Position };
}

/**
 * The place for what works on a document: where the user is, or the file of the diff that is open. It fails where
 * something is open that agentls cannot read, such as a notebook: another file would be the wrong one.
 */
export function subject(selection: boolean): Place | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  if (input instanceof vscode.TabInputNotebook || input instanceof vscode.TabInputNotebookDiff) {
    throw new Error('notebooks are not supported yet. Open a source file, or save the cell as one.');
  }
  const shown = documentsOf(input);
  if (shown.length > 0 && !shown.some(ours)) {
    throw new Error('what is open here is no file that agentls can read. Open a source file, or save this as one.');
  }
  const uri = shown.find(ours);
  return here(selection) ?? (uri && { uri: uri.toString() });
}

/** The documents that a tab shows. */
function documentsOf(input: unknown): vscode.Uri[] {
  if (input instanceof vscode.TabInputTextDiff) {
    return [sourceOf(input.modified), sourceOf(input.original)];
  }
  return input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom ? [sourceOf(input.uri)] : [];
}

/** The document and, where asked for and not empty, the selection that the user is at. */
export function here(selection: boolean): Place | undefined {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !ours(editor.document.uri)) {
    return undefined;
  }
  const uri = editor.document.uri.toString();
  const { start, end, isEmpty } = editor.selection;
  return selection && !isEmpty ? { uri, range: { start, end } } : { uri };
}

/** The file that the user was at before something that is no file, such as the walkthrough, came in front of it. */
export function lastFile(): vscode.Uri | undefined {
  const open = vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .map((tab) => (tab.input instanceof vscode.TabInputText ? tab.input.uri : undefined))
    .filter((uri) => uri && ours(uri));
  return open.find((uri) => uri?.toString() === last?.toString()) ?? open[0];
}

/** The scheme of documents with the text that a file would have; the query is the file. */
export const proposedScheme = 'agentls-proposed';

/** The file that a document is about: that of a proposed text, else the document itself. */
export function sourceOf(uri: vscode.Uri): vscode.Uri {
  return uri.scheme === proposedScheme ? vscode.Uri.parse(uri.query, true) : uri;
}

let last: vscode.Uri | undefined;

/** Notes which file the user is at, as long as the extension is active. */
export function followPlace(): vscode.Disposable {
  const note = (editor: vscode.TextEditor | undefined) => {
    last = editor && ours(editor.document.uri) ? editor.document.uri : last;
  };
  note(vscode.window.activeTextEditor);
  return vscode.window.onDidChangeActiveTextEditor(note);
}

/** Whether the server can read a document. */
export function ours(uri: vscode.Uri): boolean {
  return ['file', 'untitled'].includes(uri.scheme);
}

/** Whether a document is one in which the user talks with an agent. */
export function isConversation(uri: vscode.Uri): boolean {
  return uri.path.endsWith('.agentls.md');
}
