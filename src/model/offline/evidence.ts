import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { CallOutcome, Situation } from './situation.ts';
import {
  hiddenEntries,
  parseCounts,
  parseFileLines,
  parseFoundLines,
  parsePathList,
} from './tool-output.ts';

/** What calls have shown of the workspace so far. Bounded, whatever they return. */
export interface Evidence {
  /** Every path seen, in order of appearance. */
  readonly files: Set<string>;
  /** Matching lines a file, by the pattern that was counted. */
  readonly counts: Map<string, ReadonlyMap<string, number>>;
  /** Files that match a pattern and are not in its counts; Infinity: it is not known how many. */
  readonly hiddenCounts: Map<string, number>;
  readonly lineTotals: Map<string, number>;
  /** Lines seen, by path and line number. */
  readonly lines: Map<string, Map<number, string>>;
  /** Files that Read has opened. */
  readonly opened: Set<string>;
  /** Calls that failed or were refused, as `Tool: what it said`. */
  readonly failures: string[];
  callCount: number;
  /** Files in the workspace: those seen and those that a listing says it left out. */
  fileTotal: number;
}

/** Counting this pattern counts lines. */
export const EVERY_LINE = '^';

const MAX_FILES = 60_000;
const MAX_LINES_A_CALL = 4000;
const MAX_LINES = 40_000;
const MAX_FAILURE_CHARS = 300;

export function gatherEvidence(situation: Situation): Evidence {
  const evidence: Evidence = {
    files: new Set(),
    counts: new Map(),
    hiddenCounts: new Map(),
    fileTotal: 0,
    lineTotals: new Map(),
    lines: new Map(),
    opened: new Set(),
    failures: [],
    callCount: 0,
  };
  for (const outcome of situation.rounds.flat()) {
    evidence.callCount += 1;
    take(evidence, outcome, situation.cwd);
  }
  evidence.fileTotal = Math.max(evidence.fileTotal, evidence.files.size);
  return evidence;
}

function take(evidence: Evidence, { call, result }: CallOutcome, cwd: string): void {
  if (result === null) return;
  if (result.isError) {
    evidence.failures.push(`${call.name}: ${result.text.trim().slice(0, MAX_FAILURE_CHARS)}`);
    return;
  }
  const input = isJsonObject(call.input) ? call.input : {};
  if (call.name === 'Glob') {
    takeList(evidence, result.text, cwd);
  } else if (call.name === 'Read') {
    takeRead(evidence, input, result.text, cwd);
  } else if (call.name === 'Grep') {
    takeGrep(evidence, input, result.text, cwd);
  }
}

function takeList(evidence: Evidence, text: string, cwd: string): void {
  const paths = parsePathList(text, cwd, MAX_FILES);
  for (const path of paths) addFile(evidence, path);
  const hidden = hiddenEntries(text);
  if (hidden !== Infinity) evidence.fileTotal = Math.max(evidence.fileTotal, paths.length + hidden);
}

function takeRead(evidence: Evidence, input: JsonObject, text: string, cwd: string): void {
  const [path] = parsePathList(textOf(input['file_path']), cwd, 1);
  if (path === undefined) return;
  addFile(evidence, path);
  evidence.opened.add(path);
  for (const { line, text: content } of parseFileLines(text).slice(0, MAX_LINES_A_CALL)) {
    addLine(evidence, path, line, content);
  }
}

function takeGrep(evidence: Evidence, input: JsonObject, text: string, cwd: string): void {
  const mode = input['output_mode'];
  if (mode === 'count') {
    takeCounts(evidence, textOf(input['pattern']), text, cwd);
  } else if (mode === 'content') {
    const path = textOf(input['path']);
    const options = { limit: MAX_LINES_A_CALL, ...(path === '' ? {} : { searched: path }) };
    for (const found of parseFoundLines(text, cwd, options)) {
      addFile(evidence, found.path);
      addLine(evidence, found.path, found.line, found.text);
    }
  } else {
    for (const path of parsePathList(text, cwd, MAX_FILES)) addFile(evidence, path);
  }
}

function takeCounts(evidence: Evidence, pattern: string, text: string, cwd: string): void {
  const counts = parseCounts(text, cwd, MAX_FILES);
  for (const { path } of counts) addFile(evidence, path);
  if (pattern === EVERY_LINE) {
    for (const { path, count } of counts) evidence.lineTotals.set(path, count);
    return;
  }
  evidence.counts.set(pattern, new Map(counts.map(({ path, count }) => [path, count])));
  evidence.hiddenCounts.set(pattern, hiddenEntries(text));
}

function addFile(evidence: Evidence, path: string): void {
  if (evidence.files.size < MAX_FILES) evidence.files.add(path);
}

function addLine(evidence: Evidence, path: string, line: number, text: string): void {
  const known = evidence.lines.get(path) ?? new Map<number, string>();
  if (known.size >= MAX_LINES) return;
  known.set(line, text);
  evidence.lines.set(path, known);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
