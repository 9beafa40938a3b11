import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { errorMessage } from '../base/errors.ts';
import { isJsonObject } from '../base/json.ts';
import { isInside } from '../base/path-inside.ts';
import { sanitizeLine } from '../base/terminal-text.ts';
import { truncate } from '../base/text.ts';
import type {
  CodeAnswer,
  CodeAnswerText,
  CodePlace,
  CodeProblem,
  CodeQuestion,
  LanguageCall,
  NamedSymbol,
  RenamePlan,
} from '../protocol/languages.ts';
import { displayPath } from '../sys/files/paths.ts';
import { formatProblems, limitTime, type FeedbackLimits } from './feedback.ts';
import type { LanguageServer } from './language-server.ts';
import type { LanguageServers, ServerSlot } from './language-servers.ts';
import { readRenameEdits, type FileEdits } from './rename-edits.ts';

/** The maximum number of places that are read from an answer. */
const MAX_PLACES = 1_000;
const MAX_LABEL_LENGTH = 120;
const MAX_PROBLEM_LENGTH = 300;
/** The maximum number of files that a rename may change. */
const MAX_RENAMED_FILES = 200;

/** The parts with which questions are answered. */
export interface AnswerParts {
  readonly servers: LanguageServers;
  readonly limits: FeedbackLimits;
}

/** Answers a question with the language server of its file. */
export async function askLanguageServer(
  question: CodeQuestion,
  call: LanguageCall,
  { servers, limits }: AnswerParts,
): Promise<CodeAnswer> {
  const slot =
    question.kind === 'named_symbols'
      ? (servers.find(question.path, call.roots) ??
        servers.findForDirectory(question.path, call.roots))
      : servers.find(question.path, call.roots);
  if (slot === null) return noServer(question.path, call);
  return await askServer(slot, call, limits, async (server, signal) => {
    server.reportChanges([]);
    if (question.kind === 'named_symbols') {
      const query = { query: question.symbol };
      const result = await server.request('workspace/symbol', query, signal);
      return { ok: true, places: readSymbols(result, question.path), server: slot.name };
    }
    const { path } = question;
    const document = {
      path,
      text: readFileSync(path, 'utf8'),
      languageId: servers.languageId(path),
    };
    if (question.kind === 'file_symbols') {
      const method = 'textDocument/documentSymbol';
      const params = (uri: string) => ({ textDocument: { uri } });
      const result = await server.requestAbout(document, { method, params }, signal);
      return { ok: true, places: readSymbols(result, path), server: slot.name };
    }
    const position = findSymbol(document.text, question);
    if (position === null) return symbolNotFound(question, call);
    const method = `textDocument/${question.kind}`;
    const params = (uri: string) => ({
      textDocument: { uri },
      position,
      context: { includeDeclaration: true },
    });
    const result = await server.requestAbout(document, { method, params }, signal);
    return { ok: true, places: readLocations(result), server: slot.name };
  });
}

/** Lists all problems of a file. */
export async function listProblems(
  path: string,
  call: LanguageCall,
  { servers, limits }: AnswerParts,
): Promise<CodeAnswerText | CodeProblem> {
  const slot = servers.find(path, call.roots);
  if (slot === null) return noServer(path, call);
  return await askServer(slot, call, limits, async (server, signal) => {
    server.reportChanges([]);
    const text = readFileSync(path, 'utf8');
    const languageId = servers.languageId(path);
    const { problems } = await server.inTurn(path, () =>
      server.check({ path, text, languageId }, signal),
    );
    const files = [{ path, source: slot.name, problems }];
    const shown = formatProblems(files, { cwd: call.cwd, title: 'Problems' });
    return { ok: true, text: shown === '' ? `No problems (${slot.name}).` : shown };
  });
}

/** Finds out which files a rename would change, and how. Changes nothing. */
export async function planRename(
  symbol: NamedSymbol & { readonly newName: string },
  call: LanguageCall,
  { servers, limits }: AnswerParts,
): Promise<RenamePlan> {
  const { path, newName } = symbol;
  const slot = servers.find(path, call.roots);
  if (slot === null) return noServer(path, call);
  return await askServer(slot, call, limits, async (server, signal): Promise<RenamePlan> => {
    server.reportChanges([]);
    const text = readFileSync(path, 'utf8');
    const position = findSymbol(text, symbol);
    if (position === null) return symbolNotFound(symbol, call);
    const result = await server.requestAbout(
      { path, text, languageId: servers.languageId(path) },
      {
        method: 'textDocument/rename',
        params: (uri) => ({ textDocument: { uri }, position, newName }),
      },
      signal,
    );
    return applyRename(readRenameEdits(result), symbol, call, slot.name);
  });
}

/** Applies the edits of a rename in memory. */
function applyRename(
  edits: readonly FileEdits[] | string,
  symbol: NamedSymbol,
  { roots }: LanguageCall,
  server: string,
): RenamePlan {
  if (typeof edits === 'string') return failed('INVALID_PARAM', `${server}: ${edits}`);
  if (edits.length === 0) {
    return failed('NOT_FOUND', `${server} found nothing to rename there. Nothing was changed.`);
  }
  if (edits.length > MAX_RENAMED_FILES) {
    const problem = `The rename would change ${edits.length} files, more than ${MAX_RENAMED_FILES}. Nothing was changed.`;
    return failed('LIMIT_EXCEEDED', problem);
  }
  const outside = edits.find(({ path }) => !roots.some((root) => isInside(root, path)));
  if (outside !== undefined) {
    const problem = `The rename would change ${outside.path}, outside of the workspace. Nothing was changed.`;
    return failed('PERMISSION_DENIED', problem);
  }
  const sorted = edits.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const files = sorted.map(({ path, apply }) => {
    const before = readFileSync(path, 'utf8');
    return { path, before, after: apply(before, lastName(symbol)) };
  });
  const changed = files.flatMap(({ path, before, after }) =>
    after === null ? [] : [{ path, before, after }],
  );
  return changed.length < files.length
    ? failed('INTERNAL_ERROR', `${server} named a place that does not exist. Nothing was changed.`)
    : { ok: true, files: changed };
}

/** Asks a server within the limits. Problems of the server become an answer. */
async function askServer<T>(
  slot: ServerSlot,
  { signal }: LanguageCall,
  limits: FeedbackLimits,
  ask: (server: LanguageServer, signal: AbortSignal) => Promise<T | CodeProblem>,
): Promise<T | CodeProblem> {
  // A question waits as long as a start: nothing can go on without the answer.
  const { stop, seconds } = limitTime({ isWarm: false }, signal, limits);
  try {
    return await slot.use(stop, (server) => ask(server, stop));
  } catch (thrown) {
    signal.throwIfAborted();
    if (stop.aborted) {
      const problem = `${slot.name} did not answer within code.start_seconds = ${seconds}.`;
      return failed('TIMEOUT', problem);
    }
    const reason = truncate(sanitizeLine(errorMessage(thrown)), MAX_PROBLEM_LENGTH);
    return failed('PROVIDER_ERROR', `${slot.name}: ${reason}.`);
  }
}

function failed(error: CodeProblem['error'], problem: string): CodeProblem {
  return { ok: false, error, problem };
}

function noServer(path: string, { cwd }: LanguageCall): CodeProblem {
  return failed('NOT_FOUND', `There is no language server for ${displayPath(path, cwd)}.`);
}

function symbolNotFound({ path, symbol, line }: NamedSymbol, { cwd }: LanguageCall): CodeProblem {
  const where = `${displayPath(path, cwd)}${line === null ? '' : ` on line ${line}`}`;
  return failed('NOT_FOUND', `${symbol} does not stand in ${where}: Read the file first.`);
}

/** Returns the name that a symbol means: `object.method` means the method. */
function lastName({ symbol }: NamedSymbol): string {
  return symbol.split(/[.:#]+/).findLast((part) => part !== '') ?? symbol;
}

interface Position {
  readonly line: number;
  readonly character: number;
}

/** Finds a symbol as a whole word. Returns null if it is not there. */
function findSymbol(text: string, symbol: NamedSymbol): Position | null {
  const { line } = symbol;
  const name = lastName(symbol);
  const lines = text.split('\n');
  const candidates = line === null ? lines.keys() : [line - 1];
  for (const index of candidates) {
    const character = findWord(lines[index] ?? '', name);
    if (character >= 0) return { line: index, character };
  }
  return null;
}

function findWord(line: string, name: string): number {
  for (let at = line.indexOf(name); at >= 0; at = line.indexOf(name, at + 1)) {
    const around = `${line[at - 1] ?? ' '}${line[at + name.length] ?? ' '}`;
    if (!/[\w$]/.test(around)) return at;
  }
  return -1;
}

/** Reads places from an answer with locations or links to locations. */
function readLocations(result: unknown): readonly CodePlace[] {
  const items: readonly unknown[] = Array.isArray(result) ? result : [result];
  return items.slice(0, MAX_PLACES).flatMap((item) => {
    if (!isJsonObject(item)) return [];
    const path = toPath(item['uri'] ?? item['targetUri']);
    const line = readLine(item['range'] ?? item['targetSelectionRange']);
    return path === null || line === null ? [] : [{ path, line, label: '', depth: 0 }];
  });
}

/** Reads the symbols of an answer, in their order, with the symbols that they contain. */
function readSymbols(result: unknown, path: string): readonly CodePlace[] {
  const places: CodePlace[] = [];
  const visit = (items: unknown, depth: number): void => {
    if (!Array.isArray(items)) return;
    for (const item of items) {
      if (places.length >= MAX_PLACES) return;
      if (!isJsonObject(item) || typeof item['name'] !== 'string') continue;
      const { location } = item;
      const place = isJsonObject(location) ? location : item;
      const line = readLine(item['selectionRange'] ?? place['range']);
      const own = place['uri'] === undefined ? path : toPath(place['uri']);
      if (line === null || own === null) continue;
      const kind = SYMBOL_KINDS[Number(item['kind']) - 1] ?? 'symbol';
      const label = truncate(sanitizeLine(`${item['name']} (${kind})`), MAX_LABEL_LENGTH);
      places.push({ path: own, line, label, depth });
      visit(item['children'], depth + 1);
    }
  };
  visit(result, 0);
  return places;
}

/** The kinds of symbols, in the order of the protocol's numbers from 1 on. */
const SYMBOL_KINDS = `
  file, module, namespace, package, class, method, property, field, constructor, enum, interface, function, variable,
  constant, string, number, boolean, array, object, key, null, enum member, struct, event, operator, type parameter
`
  .trim()
  .split(/,\s+/);

function toPath(uri: unknown): string | null {
  if (typeof uri !== 'string' || !uri.startsWith('file:')) return null;
  try {
    return fileURLToPath(uri);
  } catch {
    // The server has sent something that is no path.
    return null;
  }
}

function readLine(range: unknown): number | null {
  const start = isJsonObject(range) ? range['start'] : undefined;
  const line = isJsonObject(start) ? start['line'] : undefined;
  return typeof line === 'number' && line >= 0 ? line + 1 : null;
}
