import { listNames } from '../base/text.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { FaultKind } from './answer.ts';
import type { FakeModelOptions } from './fake-model.ts';
import { CHAT_SERVERS } from './strict/options.ts';

/** The content of a script file: the options that are plain data. */
export type ScriptFile = Pick<FakeModelOptions, 'models' | 'promptCache' | 'strict'> & {
  readonly script: Extract<FakeModelOptions['script'], readonly unknown[]>;
};

const FILE_KEYS = ['script', 'models', 'promptCache', 'strict'];
const STRICT_KEYS = ['chatServer', 'refusedParameters', 'refusedRoles'];
const RULE_KEYS = ['when', 'answer'];
const WHEN_KEYS = listNames(`
  protocol model systemIncludes promptIncludes lastUserIncludes bodyIncludes offersTool
  toolResults attempt inFlightAbove nth
`);
const ANSWER_KEYS = listNames(`
  thinking text toolCalls search usage stop delayMs firstTokenMs chunkMs chunks fault
`);
/** The kinds of faults. It is a record, so that the compiler reports a missing kind. */
const FAULT_KINDS: Readonly<Record<FaultKind, true>> = {
  status: true,
  refuse: true,
  reset: true,
  hang: true,
  hang_after: true,
  truncate: true,
  half_event: true,
  malformed_frame: true,
  overloaded: true,
  error_event: true,
  broken_tool_json: true,
  duplicate_tool_ids: true,
  empty: true,
  length_stop: true,
  ping_forever: true,
  thinking_forever: true,
  slow_headers: true,
  wrong_content_type: true,
  huge: true,
};

/**
 * Parses the text of a script file: `{"script": [rules], "models"?: [...], "promptCache"?: {...}, "strict"?:
 * …}`. All keys are checked, because a rule with a misspelt condition would match every request. Throws an
 * error that names the location.
 */
export function parseScriptFile(text: string): ScriptFile {
  const file: JsonValue = JSON.parse(text);
  assertScriptFile(file);
  return file;
}

function assertScriptFile(file: unknown): asserts file is ScriptFile {
  assertObject(file, 'the file', FILE_KEYS);
  const rules = file['script'];
  if (!Array.isArray(rules)) throw new Error('script must be a list of rules');
  for (const [index, rule] of rules.entries()) checkRule(rule, `script[${index}]`);
  checkStrict(file['strict']);
}

function checkStrict(strict: unknown): void {
  if (strict === undefined || typeof strict === 'boolean') return;
  assertObject(strict, 'strict', STRICT_KEYS);
  const { chatServer, refusedParameters, refusedRoles } = strict;
  if (chatServer !== undefined && !CHAT_SERVERS.some((server) => server === chatServer)) {
    throw new Error(`strict.chatServer must be one of ${CHAT_SERVERS.join(', ')}`);
  }
  for (const [key, list] of Object.entries({ refusedParameters, refusedRoles })) {
    if (list === undefined) continue;
    if (Array.isArray(list) && list.every((each) => typeof each === 'string')) continue;
    throw new Error(`strict.${key} must be a list of strings`);
  }
}

function checkRule(rule: unknown, where: string): void {
  assertObject(rule, where, RULE_KEYS);
  if (rule['when'] !== undefined) assertObject(rule['when'], `${where}.when`, WHEN_KEYS);
  const answer = rule['answer'];
  assertObject(answer, `${where}.answer`, ANSWER_KEYS);
  const fault = answer['fault'];
  if (fault === undefined) return;
  const kind = isJsonObject(fault) ? fault['kind'] : undefined;
  if (typeof kind !== 'string' || !Object.hasOwn(FAULT_KINDS, kind)) {
    const valid = Object.keys(FAULT_KINDS).join(', ');
    throw new Error(`${where}.answer.fault.kind must be one of ${valid}`);
  }
}

function assertObject(
  value: unknown,
  where: string,
  keys: readonly string[],
): asserts value is JsonObject {
  if (!isJsonObject(value)) throw new Error(`${where} must be an object`);
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown === undefined) return;
  throw new Error(`${where} has no key ${unknown}; valid: ${keys.join(', ')}`);
}
