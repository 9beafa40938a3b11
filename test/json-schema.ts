import { Validator, type Schema } from '@cfworker/json-schema';

/** What a JSON Schema (draft 7) has against a value; empty: it is valid. */
export function schemaErrors(schema: unknown, value: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) throw new Error('no schema');
  const { errors } = new Validator(schema satisfies Schema, '7', false).validate(value);
  return errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
}
