import type { JsonObject, JsonValue } from '../base/json.ts';
import { UsageError, errorMessage } from '../base/errors.ts';

/**
 * A schema of any library that implements Standard Schema (https://standardschema.dev), such as zod, valibot or arktype.
 * Muster needs its JSON Schema too: as `~standard.jsonSchema` (Standard JSON Schema; zod since 4.2, arktype since 2.1.28,
 * and valibot with `toStandardJsonSchema`).
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The members of Standard Schema, which Muster reads. */
  readonly '~standard': {
    /** The version of Standard Schema. */
    readonly version: 1;
    /** The name of the library, for messages. */
    readonly vendor: string;
    /** Checks a value, and returns it with the transformations of the schema, or its problems. */
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** The types of the values, which exist only for the compiler. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** The functions that return the JSON Schema. Muster needs `input`. */
    readonly jsonSchema?: {
      /** Returns the JSON Schema of the values before the transformations. */
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
  };
}

/** The result of a validation. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One problem of a value. */
export interface StandardIssue {
  /** The problem in one sentence. */
  readonly message: string;
  /** The keys that lead to the value, from the outermost to the innermost. Default: the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema for values: a Standard Schema, or a JSON Schema as a plain object. */
export type Schema = StandardSchema | JsonSchemaObject;

/** A JSON Schema, draft 2020-12. */
export type JsonSchemaObject = Readonly<Record<string, unknown>>;

/** The type of the values that a schema accepts, after its transformations. `unknown` for a JSON Schema. */
export type InferOutput<S> = S extends {
  readonly '~standard': { readonly types?: { readonly output: infer Output } | undefined };
}
  ? Output
  : unknown;

/** A schema in the two forms that Muster uses. */
export interface ReadSchema {
  readonly json: JsonObject;
  /**
   * Checks a value and applies the transformations of the schema. It is code of the program, so it may throw and reject. Undefined
   * for a JSON Schema, which Muster checks itself.
   */
  readonly validate: Validate | undefined;
}

/** Checks a value at once or later. */
export type Validate = (
  value: unknown,
) => StandardResult<unknown> | PromiseLike<StandardResult<unknown>>;

/**
 * Reads a schema. Throws UsageError for a value that is no schema, and for a Standard Schema without a JSON Schema. `where`:
 * the option, for messages.
 */
export function readSchema(schema: Schema, where: string): ReadSchema {
  if (!isStandardSchema(schema)) return { json: toJson(schema, where), validate: undefined };
  const { vendor, validate, jsonSchema } = schema['~standard'];
  if (jsonSchema === undefined) {
    throw new UsageError(
      `${where}: this schema of ${vendor} has no JSON Schema (~standard.jsonSchema); use zod 4.2 or newer, arktype, toStandardJsonSchema of @valibot/to-json-schema, or a JSON Schema object`,
    );
  }
  let json: Record<string, unknown>;
  try {
    json = jsonSchema.input({ target: 'draft-2020-12' });
  } catch (thrown) {
    throw new UsageError(
      `${where}: ${vendor} cannot express this schema as JSON Schema: ${errorMessage(thrown)}`,
    );
  }
  const { $schema: _, ...rest } = json;
  return {
    json: toJson(rest, where),
    validate,
  };
}

/** Checks a value where nothing can wait for the result. A schema that checks later is an issue. `where`: the schema, for messages. */
export function validateAtOnce(
  validate: Validate,
  value: unknown,
  where: string,
): StandardResult<unknown> {
  const result = validate(value);
  if (!isPromise(result)) return result;
  // Its rejection belongs to the check that is not made.
  void Promise.resolve(result).catch(() => {});
  return {
    issues: [{ message: `the schema ${where} validates asynchronously, which is not supported` }],
  };
}

/** Tells whether a result is a promise of any library. */
function isPromise(result: ReturnType<Validate>): result is PromiseLike<StandardResult<unknown>> {
  return 'then' in result && typeof result.then === 'function';
}

function isStandardSchema(schema: Schema): schema is StandardSchema {
  return '~standard' in schema;
}

/** Copies a schema as JSON, so that later changes of the object have no effect. */
function toJson(schema: unknown, where: string): JsonObject {
  try {
    const text = JSON.stringify(schema);
    const copy: JsonValue = JSON.parse(text);
    if (typeof copy === 'object' && copy !== null && !Array.isArray(copy))
      return copy as JsonObject;
  } catch {
    // A cycle or a bigint. The message below says what is valid.
  }
  throw new UsageError(`${where}: must be a Standard Schema or a JSON Schema object`);
}

/** Describes a problem of a value: the path of the field and the message. */
export function describeIssue({ message, path = [] }: StandardIssue): string {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
}
