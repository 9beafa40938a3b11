import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { toShellWord, truncate } from '../../base/text.ts';
import type { ToolResultPart } from '../../protocol/message.ts';
import { REDACTED } from '../../protocol/redaction.ts';
import { REMOTE_STEP } from '../../protocol/tool-names.ts';

/** A request of a program that Muster carries out by calls of tools. The fields are those of the protocol. */
export type ProgramRequest =
  | {
      readonly kind: 'read';
      readonly path: string;
      readonly line: number | null;
      readonly limit: number | null;
    }
  | { readonly kind: 'write'; readonly path: string; readonly content: string }
  | {
      readonly kind: 'run';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: readonly { readonly name: string; readonly value: string }[];
      readonly cwd: string | null;
      /** The maximum number of bytes of the output that the program wants; null: as many as there are. */
      readonly outputBytes: number | null;
    }
  | { readonly kind: 'step'; readonly step: ClaimedStep; readonly options: readonly StepOption[] };

/** The description of something that a program wants to do itself, as the program gives it. Nothing of it is proved. */
export interface ClaimedStep {
  readonly title: string;
  /** The kind of the step in the protocol; null if the program names none. */
  readonly kind: string | null;
  readonly paths: readonly string[];
  /** The edits that the program shows. */
  readonly edits: readonly {
    readonly path: string;
    readonly before: string | null;
    readonly after: string;
  }[];
  readonly input: JsonValue;
}

/** A choice that a program offers in a question. */
export interface StepOption {
  readonly id: string;
  readonly kind: string;
}

/** A call of a tool, without its id. */
export interface PlannedToolCall {
  readonly name: string;
  readonly input: JsonObject;
}

/** The answer to a request: a result of the protocol, or the message of an error. */
export type ProgramAnswer =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly message: string };

/** The end of a command, as a terminal of the protocol has it. */
export interface CommandEnd {
  readonly output: string;
  readonly truncated: boolean;
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/**
 * Returns the calls that carry out a request, in the order in which they have to run.
 *
 * @param exists tells whether there is a file at a path; Write replaces only a file that the task has read
 */
export function toToolCalls(
  request: ProgramRequest,
  exists: (path: string) => boolean,
): readonly PlannedToolCall[] {
  switch (request.kind) {
    case 'read': {
      const { path, line, limit } = request;
      const input = {
        file_path: path,
        verbatim: true,
        ...(line === null || line < 1 ? {} : { offset: line }),
        ...(limit === null || limit < 1 ? {} : { limit }),
      };
      return [{ name: 'Read', input }];
    }
    case 'write': {
      const { path, content } = request;
      const write = { name: 'Write', input: { file_path: path, content } };
      return exists(path)
        ? [{ name: 'Read', input: { file_path: path, limit: 1 } }, write]
        : [write];
    }
    case 'run': {
      const { cwd } = request;
      const command = formatCommand(request);
      return [{ name: 'Bash', input: { command, ...(cwd === null ? {} : { workdir: cwd }) } }];
    }
    case 'step':
      return [{ name: REMOTE_STEP, input: describeStep(request.step) }];
  }
}

/** The names that a shell accepts in front of a command. */
const VARIABLE_NAME = /^[A-Za-z_]\w*$/;

/**
 * Formats the command line of a request. A command without arguments is a line for a shell, as most programs send it;
 * arguments are quoted.
 */
function formatCommand({ command, args, env }: Extract<ProgramRequest, { kind: 'run' }>): string {
  const variables = env
    .filter(({ name }) => VARIABLE_NAME.test(name))
    .map(({ name, value }) => `${name}=${toShellWord(value)}`);
  const line = args.length === 0 ? command : [command, ...args].map(toShellWord).join(' ');
  // Assignments in front of a whole line would hold only for its first command.
  if (variables.length === 0) return line;
  return args.length === 0
    ? `export ${variables.join(' ')}; ${line}`
    : `${variables.join(' ')} ${line}`;
}

/** The maximum number of paths, and of characters of a text, of a step that are kept. */
const MAX_PATHS = 100;
const MAX_TEXT = 20_000;
const MAX_TITLE = 300;

/** Describes a step as the arguments of a call. */
function describeStep({ title, kind, paths, edits, input }: ClaimedStep): JsonObject {
  const { command, url, ...rest } = isJsonObject(input) ? input : { value: input };
  const line = readCommand(command);
  const others = JSON.stringify(rest);
  return {
    step: truncate(sanitizeLine(title), MAX_TITLE),
    kind: kind === null ? 'unknown' : truncate(sanitizeLine(kind), MAX_TITLE),
    ...(paths.length === 0 ? {} : { paths: paths.slice(0, MAX_PATHS) }),
    ...(line === undefined ? {} : { command: truncate(line, MAX_TEXT) }),
    ...(typeof url === 'string' ? { url: truncate(url, MAX_TEXT) } : {}),
    ...(edits.length === 0
      ? {}
      : {
          edits: edits.slice(0, MAX_PATHS).map(describeEdit),
        }),
    ...(others === '{}' || others === '{"value":null}'
      ? {}
      : { details: truncate(others, MAX_TEXT) }),
  };
}

function describeEdit({ path, before, after }: ClaimedStep['edits'][number]): JsonObject {
  const added = { path, after: truncate(after, MAX_TEXT) };
  return before === null ? added : { ...added, before: truncate(before, MAX_TEXT) };
}

/** Reads a command, which programs write as a text or as a list of words. */
function readCommand(command: JsonValue | undefined): string | undefined {
  if (typeof command === 'string') return command;
  const isWords = Array.isArray(command) && command.every((each) => typeof each === 'string');
  return isWords ? command.map(toShellWord).join(' ') : undefined;
}

/** Answers a request from the results of its calls, which are in the order of the calls. */
export function toProgramAnswer(
  request: Exclude<ProgramRequest, { kind: 'run' }>,
  results: readonly Pick<ToolResultPart, 'text' | 'isError'>[],
): ProgramAnswer {
  const last = results.at(-1);
  if (last === undefined) return { ok: false, message: NO_RESULT };
  const { text, isError } = last;
  switch (request.kind) {
    case 'read':
      if (isError) return { ok: false, message: text };
      return text.includes(REDACTED)
        ? { ok: false, message: HAS_SECRET }
        : { ok: true, result: { content: text } };
    case 'write':
      return isError ? { ok: false, message: text } : { ok: true, result: {} };
    case 'step':
      return { ok: true, result: { outcome: chooseOption(request.options, !isError) } };
  }
}

const NO_RESULT = 'Muster ended the task before it could answer this request.';
const HAS_SECRET =
  'The file holds a secret that Muster keeps out of its logs, so it cannot pass the content on.';

/**
 * Chooses the answer to a question. Only a yes for one time is ever given: after a yes for all times the program would
 * not ask any more, so that nobody could decide about the next step.
 */
function chooseOption(options: readonly StepOption[], isAllowed: boolean): JsonObject {
  const wanted = isAllowed ? ['allow_once'] : [];
  for (const kind of [...wanted, 'reject_once', 'reject_always']) {
    const option = options.find((each) => each.kind === kind);
    if (option !== undefined) return { outcome: 'selected', optionId: option.id };
  }
  return { outcome: 'cancelled' };
}

/** Matches the line with which Bash reports the end of a command. */
const EXIT_LINE = /^\[exit code (\d+)\]$/;
const OTHER_END =
  /^\[(?:ended by (SIG\w+)|stopped: |killed: |ended at the limit |it ended without)/;

/**
 * Reads the end of a command from the result of its call. Returns the message of an error if the command has not run.
 *
 * @param outputBytes the maximum number of bytes of the output; null: all of it
 */
export function readCommandEnd(
  { text, isError }: Pick<ToolResultPart, 'text' | 'isError'>,
  outputBytes: number | null,
): CommandEnd | string {
  const lines = text.split('\n');
  const at = lines.findLastIndex((line) => EXIT_LINE.test(line) || OTHER_END.test(line));
  const end = lines[at];
  if (end === undefined)
    return isError ? text : { ...cutOutput(text, outputBytes), exitCode: 0, signal: null };
  const notes = lines.slice(at + 1).join('\n');
  const output = [lines.slice(0, at).join('\n'), notes].filter((part) => part !== '').join('\n');
  const code = EXIT_LINE.exec(end)?.[1];
  if (code !== undefined)
    return { ...cutOutput(output, outputBytes), exitCode: Number(code), signal: null };
  const signal = OTHER_END.exec(end)?.[1] ?? 'SIGKILL';
  return { ...cutOutput(`${output}\n${end}`.trim(), outputBytes), exitCode: null, signal };
}

/** Keeps the end of an output, from the beginning of a character on. */
function cutOutput(
  output: string,
  maxBytes: number | null,
): Pick<CommandEnd, 'output' | 'truncated'> {
  const bytes = Buffer.from(output);
  if (maxBytes === null || bytes.length <= maxBytes) return { output, truncated: false };
  let from = bytes.length - maxBytes;
  while (from < bytes.length && ((bytes[from] ?? 0) & 0b1100_0000) === 0b1000_0000) from += 1;
  return { output: bytes.toString('utf8', from), truncated: true };
}
