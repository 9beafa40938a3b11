import type { JsonValue } from '../base/json.ts';
import { loadSchemaCompiler } from '../api/index.ts';
import { UsageError } from '../base/errors.ts';
import type {
  ProgramTool,
  ProgramToolAccess,
  ProgramToolContext,
  ProgramToolResult,
} from '../protocol/program-tool.ts';
import { TOOL_NAMES } from '../protocol/tool-names.ts';
import { canonicalToolName } from '../protocol/tool-aliases.ts';
import type { ValidationResult } from '../protocol/tool.ts';
import { checkFields } from './check-fields.ts';
import {
  describeIssue,
  readSchema,
  validateAtOnce,
  type InferOutput,
  type Schema,
  type StandardResult,
} from './standard-schema.ts';

/** The definition of a tool of your own. */
export interface ToolDefinition<S extends Schema = Schema> {
  /** The name for the model: letters, digits, `_` and `-`, at most 64 characters. It must not be the name of a tool of Muster. */
  readonly name: string;
  /** The description for the model: what the tool does, and when to use it. */
  readonly description: string;
  /** The schema of the arguments, which are an object. */
  readonly input: S;
  /**
   * The access of a call: what it touches. Muster decides from this whether the call may run, in the same way as for its own tools, and records
   * the changes of these files. `'none'`: the calls touch nothing and run without a question. Default: not known, so each
   * call is a question to a person.
   */
  readonly access?: ProgramToolAccess<InferOutput<S>> | 'none';
  /**
   * The treatment of a call whose outcome is not known after a crash. `pure`: it runs again. `keyed`: it runs again with the same
   * `callId`, by which the tool recognizes it. `opaque`: it does not run again, and the model is told so. Default: `pure` if the
   * calls only read, otherwise `opaque`.
   */
  readonly replay?: 'pure' | 'keyed' | 'opaque';
  /**
   * Runs a call. The result is a text for the model, or a text with images. An error that it throws becomes the result of a
   * failed call, with the message of the error.
   */
  run(
    input: InferOutput<S>,
    context: ProgramToolContext,
  ): string | ProgramToolResult | Promise<string | ProgramToolResult>;
}

/** A tool that `defineTool` has checked, for the option `tools` of `createMuster`. */
export interface CustomTool {
  /** The name for the model. */
  readonly name: string;
  /** The description for the model. */
  readonly description: string;
}

/** Creates the tools of Muster from the tools that `defineTool` has returned. */
const preparations = new WeakMap<CustomTool, () => Promise<ProgramTool>>();

/** Prepares a tool for use. `where`: the option, for messages. Throws UsageError for a value that `defineTool` did not return. */
export async function prepareTool(tool: CustomTool, where: string): Promise<ProgramTool> {
  const prepare = preparations.get(tool);
  if (prepare !== undefined) return prepare();
  throw new UsageError(
    `${where}: must be a tool that defineTool of this copy of muster-agent has returned`,
  );
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/**
 * Defines a tool of your own. Throws UsageError for a wrong name, an unknown field, or a schema that cannot be used.
 *
 * @example
 * import { defineTool } from 'muster-agent';
 * import { z } from 'zod';
 *
 * const orders = new Map([[17, 'sent']]);
 * const lookUp = defineTool({
 *   name: 'look_up_order',
 *   description: 'Returns the state of an order by its number.',
 *   input: z.object({ order: z.number().int() }),
 *   access: 'none',
 *   run: ({ order }) => `order ${order}: ${orders.get(order) ?? 'unknown'}`,
 * });
 */
export function defineTool<const S extends Schema>(definition: ToolDefinition<S>): CustomTool {
  const { name, description, access, replay } = definition;
  checkFields(definition, `defineTool(${JSON.stringify(name)})`, {
    name: 'string',
    description: 'string',
    // The schemas of arktype are functions.
    input: ['object', 'function'],
    access: 'any',
    replay: 'string',
    run: 'function',
  });
  checkAccess(name, access);
  if (replay !== undefined && !REPLAY_CLASSES.includes(replay)) {
    throw new UsageError(
      `defineTool(${JSON.stringify(name)}): replay must be one of ${REPLAY_CLASSES.join(', ')}`,
    );
  }
  const problem = findNameProblem(name);
  if (problem !== null) throw new UsageError(`defineTool: name ${JSON.stringify(name)} ${problem}`);
  const where = `the input of the tool ${name}`;
  const { json, validate } = readSchema(definition.input, where);
  if (json['type'] !== undefined && json['type'] !== 'object')
    throw new UsageError(
      `defineTool: input of ${name} must be the schema of an object, not of ${JSON.stringify(json['type'])}`,
    );
  const tool: CustomTool = { name, description };
  preparations.set(tool, async () => {
    const check: Check =
      validate === undefined
        ? await createJsonCheck(name, json)
        : (value) => validateAtOnce(validate, value, where);
    return {
      name,
      description,
      inputSchema: json,
      // `parse` returns only inputs of the type that `access` takes.
      access: access as ProgramTool['access'],
      ...(replay === undefined ? {} : { replay }),
      parse: (input) => toValidation(check(input)),
      async run(input, context) {
        const result = await definition.run(input as InferOutput<S>, context);
        if (typeof result === 'string') return { text: result };
        if (typeof result?.text === 'string') return result;
        throw new TypeError('run must return a text, or an object with a text');
      },
    };
  });
  return tool;
}

const REPLAY_CLASSES: readonly NonNullable<ToolDefinition['replay']>[] = [
  'pure',
  'keyed',
  'opaque',
];
const ACCESS_FUNCTIONS = ['reads', 'writes', 'hosts', 'commands'] as const;

/** Throws UsageError for an access that does not say what calls touch: it must never count as one that touches nothing. */
function checkAccess(name: string, access: unknown): void {
  if (access === undefined || access === 'none') return;
  const where = `defineTool(${JSON.stringify(name)}): access`;
  if (typeof access !== 'object' || access === null)
    throw new UsageError(`${where} must be 'none' or an object, not ${JSON.stringify(access)}`);
  checkFields(access, where, {
    reads: 'function',
    writes: 'function',
    hosts: 'function',
    commands: 'function',
    onlyFetches: 'boolean',
  });
  const fields: Readonly<Record<string, unknown>> = { ...access };
  if (ACCESS_FUNCTIONS.every((each) => fields[each] === undefined)) {
    throw new UsageError(
      `${where} has none of ${ACCESS_FUNCTIONS.join(', ')}; write 'none' if calls touch nothing`,
    );
  }
}

function findNameProblem(name: string): string | null {
  if (!NAME.test(name))
    return 'must begin with a letter, and have only letters, digits, _ and -, at most 64';
  const own = canonicalToolName(name) ?? name;
  if (TOOL_NAMES.includes(own)) return `is a name of Muster's tool ${own}; choose another`;
  if (name.startsWith('mcp__')) return 'begins like the tools of MCP servers; choose another';
  return null;
}

type Check = (value: unknown) => StandardResult<unknown>;

/** Creates the check for a tool whose arguments are described by a JSON Schema. */
async function createJsonCheck(name: string, json: ProgramTool['inputSchema']): Promise<Check> {
  const { compileSchema } = await loadSchemaCompiler();
  const check = compileSchema(json);
  if (typeof check === 'string')
    throw new UsageError(`the input of the tool ${name} is no valid JSON Schema: ${check}`);
  return (value) => {
    const result = check(value as JsonValue);
    if (result.kind === 'valid') return { value };
    const findings = result.kind === 'invalid' ? result.findings : [result.reason];
    return { issues: findings.map((message) => ({ message })) };
  };
}

function toValidation(result: ReturnType<Check>): ValidationResult<unknown> {
  return result.issues === undefined
    ? { ok: true, input: result.value }
    : { ok: false, issues: result.issues.map(describeIssue) };
}
