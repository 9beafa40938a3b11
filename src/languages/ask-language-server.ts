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
import { realPathIfPresent } from '../sys/files/path-lookup.ts';
import { describeError, formatProblems, limitTime, type FeedbackLimits } from './feedback.ts';
import { toFilePath } from './file-uris.ts';
import type { LanguageServer } from './language-server.ts';
import type { LanguageServers } from './language-servers.ts';
import { readText, withoutByteOrderMark, type DocumentText } from './open-documents.ts';
import { readRenameEdits, type FileEdits } from './rename-edits.ts';
import type { ServerSlot } from './server-slot.ts';

/** The maximum number of places that are read from an answer. */
const MAX_PLACES = 1_000;
const MAX_LABEL_LENGTH = 120;
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
    if (question.kind === 'named_symbols') {
      const query = { query: question.symbol };
      const result = await server.request('workspace/symbol', query, signal);
      return { ok: true, places: readSymbols(result, question.path), server: slot.name };
    }
    const { path } = question;
    const document = readCode(path, servers);
    if (document === null) return unreadable(path, call);
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
    const document = readCode(path, servers);
    if (document === null) return unreadable(path, call);
    const { problems } = await server.inTurn([path], signal, () => server.check(document, signal));
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
  const { newName } = symbol;
  const path = realPathIfPresent(symbol.path) ?? symbol.path;
  const slot = servers.find(path, call.roots);
  if (slot === null) return noServer(path, call);
  return await askServer(slot, call, limits, async (server, signal): Promise<RenamePlan> => {
    const document = readCode(path, servers);
    if (document === null) return unreadable(path, call);
    const position = findSymbol(document.text, symbol);
    if (position === null) return symbolNotFound(symbol, call);
    const request = {
      method: 'textDocument/rename',
      params: (uri: string) => ({ textDocument: { uri }, position, newName }),
    };
    const result = await server.requestAbout(document, request, signal);
    const edits = readRenameEdits(result);
    if (typeof edits === 'string') return failed('INVALID_PARAM', `${slot.name}: ${edits}`);
    const plan = applyRename(edits, lastName(symbol), { call, server: slot.name });
    // The server knows other texts than those on the disk, so it has to read them again.
    if (!plan.ok && plan.error === 'CONFLICT') slot.noteUnknownChanges();
    return plan;
  });
}

/** Applies the edits of a rename in memory. `name`: the old name. */
function applyRename(
  edits: readonly FileEdits[],
  name: string,
  { call, server }: { readonly call: LanguageCall; readonly server: string },
): RenamePlan {
  if (edits.length === 0) {
    return failed('NOT_FOUND', `${server} found nothing to rename there. Nothing was changed.`);
  }
  if (edits.length > MAX_RENAMED_FILES) {
    const problem = `The rename would change ${edits.length} files, more than ${MAX_RENAMED_FILES}. Nothing was changed.`;
    return failed('LIMIT_EXCEEDED', problem);
  }
  const byPath = Map.groupBy(edits, ({ path }) => realPathIfPresent(path) ?? path);
  const paths = [...byPath.keys()].toSorted();
  const outside = paths.find((path) => !call.roots.some((root) => isInside(root, path)));
  if (outside !== undefined) {
    const problem = `The rename would change ${outside}, outside of the workspace. Nothing was changed.`;
    return failed('PERMISSION_DENIED', problem);
  }
  const files: { path: string; before: string; after: string }[] = [];
  for (const path of paths) {
    const before = readText(path);
    if (before === null) return unreadable(path, call);
    // A server that names a file by its links, too, makes the same edits under each name.
    const texts = byPath.get(path)?.map((file) => file.apply(before, name)) ?? [];
    const [after = null] = texts;
    if (after === null || texts.some((text) => text !== after)) {
      const shown = displayPath(path, call.cwd);
      const problem = `${server} knows another text of ${shown}. Nothing was changed: try it again.`;
      return failed('CONFLICT', problem);
    }
    files.push({ path, before, after });
  }
  return { ok: true, files };
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
    return await slot.use(stop, (server, pending) => {
      server.reportChanges(pending, new Set());
      return ask(server, stop);
    });
  } catch (thrown) {
    signal.throwIfAborted();
    if (stop.aborted) {
      const problem = `${slot.name} did not answer within code.start_seconds = ${seconds}.`;
      return failed('TIMEOUT', problem);
    }
    return failed('PROVIDER_ERROR', `${slot.name}: ${describeError(thrown)}.`);
  }
}

/** Reads a file as a document. Returns null if it is no text that a server can be sent. */
function readCode(path: string, servers: LanguageServers): DocumentText | null {
  const text = readText(path);
  if (text === null) return null;
  return { path, text: withoutByteOrderMark(text), languageId: servers.languageId(path) };
}

function unreadable(path: string, { cwd }: LanguageCall): CodeProblem {
  const problem = `${displayPath(path, cwd)} is no file in UTF-8 with at most 1 MB.`;
  return failed('INVALID_PARAM', problem);
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
    const path = toFilePath(item['uri'] ?? item['targetUri']);
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
      const own = place['uri'] === undefined ? path : toFilePath(place['uri']);
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

function readLine(range: unknown): number | null {
  const start = isJsonObject(range) ? range['start'] : undefined;
  const line = isJsonObject(start) ? start['line'] : undefined;
  return typeof line === 'number' && line >= 0 ? line + 1 : null;
}
