import { MusterError } from '../../base/errors.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { Access } from '../../protocol/permission.ts';
import type { ProposedEdit } from '../../protocol/question.ts';
import type {
  ReplayClass,
  Tool,
  ToolContext,
  ToolKind,
  ToolOutput,
  ValidationResult,
} from '../../protocol/tool.ts';
import { normalizeArguments, type ArgumentAliases, type ArgumentReport } from './arguments.ts';
import { failure } from './output.ts';
import { matchesSchema, schemaJson, type ObjectSchema, type ValueOf } from './schema.ts';

/** The definition from which `defineBuiltinTool` creates a Tool. The interface Tool documents the fields without a comment. */
export interface BuiltinToolDefinition<S extends ObjectSchema> {
  readonly name: string;
  readonly kind: ToolKind;
  readonly replay: ReplayClass;
  /** Whether calls of the tool spend their time waiting, so that other calls may use their slot. Default: false. */
  readonly waits?: boolean;
  readonly ownWords?: boolean;
  readonly description: string;
  readonly grammar?: string;
  readonly input: S;
  /** The canonical names for other names that models use for arguments. */
  readonly aliases?: ArgumentAliases;
  describe(input: ValueOf<S>, at: { readonly cwd: string }): Access;
  proposes?(input: ValueOf<S>, at: { readonly cwd: string }): readonly ProposedEdit[];
  /** Runs a call. A MusterError that it throws becomes a failed output with the same code. */
  run(input: ValueOf<S>, context: ToolContext): Promise<ToolOutput>;
}

/** Creates a Tool that reads its arguments by the schema of the definition. */
export function defineBuiltinTool<const S extends ObjectSchema>(
  definition: BuiltinToolDefinition<S>,
): Tool<ValueOf<S>> {
  const { name, kind, replay, description, aliases = {} } = definition;
  const { waits = false, ownWords = false, grammar } = definition;
  return {
    name,
    kind,
    replay,
    waits: () => waits,
    ownWords,
    description,
    inputSchema: schemaJson(definition.input),
    ...(grammar === undefined ? {} : { grammar }),
    parse(input: JsonValue): ValidationResult<ValueOf<S>> {
      if (!isJsonObject(input)) {
        return { ok: false, issues: ['input: is not an object; valid: an object of arguments'] };
      }
      const report: ArgumentReport = { issues: [], notes: [] };
      const { issues, notes } = report;
      const named: unknown = normalizeArguments(
        input,
        { aliases, schema: definition.input },
        report,
      );
      const isUsable = matchesSchema(definition.input, named, issues) && issues.length === 0;
      return isUsable ? createParsedInput(named, notes) : { ok: false, issues };
    },
    describe: (input, at) => definition.describe(input, at),
    proposes: (input, at) => definition.proposes?.(input, at) ?? [],
    run: (input, context) => outputErrors(name, context, () => definition.run(input, context)),
  };
}

function createParsedInput<I>(input: I, notes: readonly string[]): ValidationResult<I> {
  return { ok: true, input, ...(notes.length === 0 ? {} : { notes }) };
}

/**
 * Runs the work of a call. A MusterError becomes a failed output with the same code, and any error after a stop becomes
 * an output that says so.
 */
export async function outputErrors(
  tool: string,
  { signal }: Pick<ToolContext, 'signal'>,
  work: () => Promise<ToolOutput>,
): Promise<ToolOutput> {
  try {
    signal.throwIfAborted();
    return await work();
  } catch (thrown) {
    if (signal.aborted) return failure('CANCELLED', `${tool} was cancelled.`);
    if (thrown instanceof MusterError) return failure(thrown.code, thrown.message);
    throw thrown;
  }
}

/** The argument that names a file. */
export const FILE_PATH = { type: 'string', minLength: 1 } as const;

/** Other names of the argument that names a file. */
export const FILE_PATH_ALIASES: ArgumentAliases = {
  path: 'file_path',
  file: 'file_path',
  filename: 'file_path',
  absolute_path: 'file_path',
  target_file: 'file_path',
  notebook_path: 'file_path',
};

/** The argument that names a directory. */
export const DIRECTORY = { type: 'string', description: 'default: working directory' } as const;

/** Other names of the argument that names a directory. */
export const DIRECTORY_ALIASES: ArgumentAliases = {
  dir: 'path',
  directory: 'path',
  dir_path: 'path',
  directory_path: 'path',
  target_directory: 'path',
  relative_workspace_path: 'path',
  file_path: 'path',
};

/** The spellings of UTF-8 in the arguments of other products. New files are always written in UTF-8. */
export const UTF_8 = ['utf-8', 'utf8', 'UTF-8', 'UTF8'] as const;

/** The arguments of one replacement of an exact text. */
export const EDIT_FIELDS = {
  old_string: { type: 'string' },
  new_string: { type: 'string' },
  replace_all: { type: 'boolean' },
  expected_replacements: { type: 'integer', minimum: 1, unlisted: true },
} as const;

/** The arguments that name a cell of a notebook and the change of the cell. */
export const CELL_FIELDS = {
  cell_id: { type: 'string', unlisted: true },
  cell_type: { type: 'string', enum: ['code', 'markdown', 'raw'], unlisted: true },
  edit_mode: { type: 'string', enum: ['replace', 'insert', 'delete'], unlisted: true },
} as const;

/** Other names of the arguments in EDIT_FIELDS. */
export const EDIT_ALIASES: ArgumentAliases = {
  old: 'old_string',
  old_str: 'old_string',
  old_text: 'old_string',
  new: 'new_string',
  new_str: 'new_string',
  new_text: 'new_string',
  new_source: 'new_string',
  allow_multiple: 'replace_all',
};
