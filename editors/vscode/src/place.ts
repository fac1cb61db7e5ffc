import * as vscode from 'vscode';

/** The document and, where asked for and not empty, the selection that the user is at. */
export function here(selection: boolean): { uri: string; range?: { start: vscode.Position; end: vscode.Position } } | undefined {
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

let last: vscode.Uri | undefined;

/** Notes which file the user is at, as long as the extension is active. */
export function followPlace(): vscode.Disposable {
  const note = (editor: vscode.TextEditor | undefined) => {
    last = editor && ours(editor.document.uri) ? editor.document.uri : last;
  };
  note(vscode.window.activeTextEditor);
  return vscode.window.onDidChangeActiveTextEditor(note);
}

function ours(uri: vscode.Uri): boolean {
  return ['file', 'untitled'].includes(uri.scheme);
}
