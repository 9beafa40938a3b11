import {
  combineAcceptance,
  formatAcceptance,
  parseAcceptance,
  type AcceptanceCriteria,
  type AcceptanceRequest,
} from '../../protocol/acceptance.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import { collapseWhitespace } from '../../base/text.ts';
import { errorMessage, UsageError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { loadDefinitions, type AgentDefinition } from '../../api/index.ts';
import { printNotice } from './output.ts';
import type { AgentsArgument } from './run-options.ts';

/** Limits for files that are read completely into memory. */
const MAX_SCHEMA_BYTES = 1024 * 1024;
const MAX_AGENTS_BYTES = 16 * 1024 * 1024;

/**
 * Reads the schema of `--output-schema`, which is JSON text or the path of a file. Rejects with UsageError
 * for anything else, before a model is asked.
 */
export async function loadOutputSchema(given: string): Promise<JsonObject> {
  const isText = given.trimStart().startsWith('{');
  const wrong = (why: string) =>
    new UsageError(`--output-schema${isText ? '' : ` ${given}`}: ${why}`);
  const text = isText ? given : await readFile('--output-schema ', given, MAX_SCHEMA_BYTES);
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (thrown) {
    // The message quotes the text, which may have line breaks.
    throw wrong(collapseWhitespace(errorMessage(thrown)));
  }
  if (!isJsonObject(schema)) throw wrong('must be a JSON Schema, an object');
  const { outputSchemaProblem } = await loadDefinitions();
  const problem = await outputSchemaProblem({ outputSchema: schema });
  if (problem !== null) throw wrong(problem);
  return schema;
}

/**
 * Reads the values of `--accept`: each is a command line, or criteria as a JSON object. Returns undefined if there are
 * none. Throws UsageError for criteria that can't be used.
 */
export function readAcceptanceFlags(values: readonly string[]): AcceptanceRequest | undefined {
  const criteria = values.map((text): AcceptanceCriteria => {
    const issues: string[] = [];
    const json = text.trimStart().startsWith('{') ? parseJsonLine(text) : undefined;
    // A shell group begins with `{ ` and a command, so only a brace before a quote must be JSON.
    if (json === undefined && /^\s*\{\s*"/.test(text))
      throw new UsageError('--accept: begins like a JSON object, and is not valid JSON');
    const written = parseAcceptance(isJsonObject(json) ? json : text, issues);
    if (written?.schema !== undefined) issues.push('accept.schema: use --output-schema instead');
    if (written === undefined || issues.length > 0)
      throw new UsageError(issues.map((issue) => `--${issue}`).join('; '));
    return written.criteria;
  });
  return criteria.length === 0 ? undefined : formatAcceptance(combineAcceptance(criteria));
}

/** Reads the agent definitions of `--agents`. Problems of single definitions are reported on stderr. */
export async function readSessionAgents(
  argument: AgentsArgument | null,
): Promise<readonly AgentDefinition[]> {
  if (argument === null) return [];
  const text =
    argument.kind === 'json'
      ? argument.text
      : await readFile('--agents @', argument.path, MAX_AGENTS_BYTES);
  const { parseSessionAgents } = await loadDefinitions();
  const { items, problems } = parseSessionAgents(text);
  const broken = problems.filter(({ code }) => code !== 'unknown-field');
  if (items.length === 0 && broken.length > 0) {
    throw new UsageError(broken.map(({ message }) => message).join('; '));
  }
  for (const { message } of broken) printNotice(message);
  for (const { name, problems: own } of items) {
    for (const { message } of own) printNotice(`--agents: ${name}: ${message}`);
  }
  return items;
}

async function readFile(flag: string, path: string, maxBytes: number): Promise<string> {
  const { readNamedFile } = await import('../../sys/files/named-file.ts');
  try {
    const bytes = await readNamedFile(path, { maxBytes });
    return bytes.toString('utf8');
  } catch (thrown) {
    throw new UsageError(`${flag}${errorMessage(thrown)}`);
  }
}
