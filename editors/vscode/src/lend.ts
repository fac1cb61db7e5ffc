import * as vscode from 'vscode';
import type { EditorDiagnostic, EditorDiagnostics, EditorSymbol, Severity, SymbolsParams } from './protocol';
import type { Server } from './server';

/** How many symbols are handed over at once. */
const mostSymbols = 500;

/** Lends what the editor's other extensions know: their diagnostics, and their symbols. */
export function lendLanguages(server: Server): void {
  server.support.diagnostics = true;
  server.support.symbols = true;
  server.answer(
    'agent/diagnostics', async ({ uri }) => diagnostics(uri === undefined ? undefined : vscode.Uri.parse(uri)),
  );
  server.answer('agent/symbols', async (params) => ({ symbols: (await symbols(params)).slice(0, mostSymbols) }));
}

const severities: Severity[] = ['error', 'warning', 'information', 'hint'];

function diagnostics(uri: vscode.Uri | undefined): EditorDiagnostics {
  const all: [vscode.Uri, vscode.Diagnostic[]][] = uri
    ? [[uri, vscode.languages.getDiagnostics(uri)]]
    : vscode.languages.getDiagnostics();
  const documents = all
    .map(([uri, list]) => ({
      uri: uri.toString(), diagnostics: list.filter((d) => !d.source?.startsWith('agentls')).map(diagnostic),
    }))
    .filter((document) => document.diagnostics.length > 0);
  return { documents };
}

/** A diagnostic as the protocol has it. */
export function diagnostic(d: vscode.Diagnostic): EditorDiagnostic {
  const code = typeof d.code === 'object' ? d.code.value : d.code;
  return {
    range: plain(d.range),
    severity: severities[d.severity] ?? 'information',
    message: d.message,
    ...(d.source === undefined ? {} : { source: d.source }),
    ...(code === undefined ? {} : { code: String(code) }),
  };
}

async function symbols(params: SymbolsParams): Promise<EditorSymbol[]> {
  const uri = vscode.Uri.parse(params.uri ?? '');
  const position = new vscode.Position(params.position?.line ?? 0, params.position?.character ?? 0);
  switch (params.query) {
    case 'definition': {
      const found = await vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[]>(
        'vscode.executeDefinitionProvider', uri, position,
      );
      return (found ?? []).map((at) => ('targetUri' in at
        ? place(at.targetUri, at.targetSelectionRange ?? at.targetRange)
        : place(at.uri, at.range)));
    }
    case 'references': {
      const found = await vscode.commands.executeCommand<vscode.Location[]>(
        'vscode.executeReferenceProvider', uri, position,
      );
      return (found ?? []).map((at) => place(at.uri, at.range));
    }
    case 'document': {
      const found = await vscode.commands.executeCommand<(vscode.DocumentSymbol | vscode.SymbolInformation)[]>('vscode.executeDocumentSymbolProvider', uri);
      return (found ?? []).flatMap((symbol) => ('children' in symbol ? nested(uri, symbol) : [named(symbol)]));
    }
    case 'workspace': {
      const found = await vscode.commands.executeCommand<vscode.SymbolInformation[]>(
        'vscode.executeWorkspaceSymbolProvider', params.name ?? '',
      );
      return (found ?? []).map(named);
    }
  }
  return [];
}

function nested(uri: vscode.Uri, symbol: vscode.DocumentSymbol, container?: string): EditorSymbol[] {
  const own: EditorSymbol = {
    ...place(uri, symbol.selectionRange), name: symbol.name, kind: kind(symbol.kind),
    ...(container === undefined ? {} : { container }),
  };
  return [own, ...symbol.children.flatMap((child) => nested(uri, child, symbol.name))];
}

function named(symbol: vscode.SymbolInformation): EditorSymbol {
  return {
    ...place(symbol.location.uri, symbol.location.range),
    name: symbol.name,
    kind: kind(symbol.kind),
    ...(symbol.containerName ? { container: symbol.containerName } : {}),
  };
}

function kind(k: vscode.SymbolKind): string {
  return vscode.SymbolKind[k]?.toLowerCase() ?? '';
}

function place(uri: vscode.Uri, range: vscode.Range): EditorSymbol {
  return { uri: uri.toString(), range: plain(range) };
}

function plain(range: vscode.Range): EditorDiagnostic['range'] {
  const at = (position: vscode.Position) => ({ line: position.line, character: position.character });
  return { start: at(range.start), end: at(range.end) };
}
