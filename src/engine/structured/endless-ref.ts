import { isJsonObject } from '../../base/json.ts';
import type { Schema } from '@cfworker/json-schema';

/** Keywords whose schemas are for the very value that theirs is for. */
const ONE = ['not', 'if', 'then', 'else'] as const;
const LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const MAPS = ['dependentSchemas', 'dependencies'] as const;

/**
 * A schema that leads back to itself without having gone a step into the value: checking it would never
 * end. Null: none does.
 */
export function endlessRef(lookup: Readonly<Record<string, Schema | boolean>>): string | null {
  const state = new Map<Schema, 'open' | 'done'>();
  const leadsBack = (schema: Schema): boolean => {
    const known = state.get(schema);
    if (known !== undefined) return known === 'open';
    state.set(schema, 'open');
    const found = forSameValue(schema, lookup).some(leadsBack);
    state.set(schema, 'done');
    return found;
  };
  for (const schema of Object.values(lookup)) {
    if (typeof schema === 'object' && leadsBack(schema)) {
      const named = schema.$ref === undefined ? '' : ` ($ref ${JSON.stringify(schema.$ref)})`;
      return `refers to itself without end${named}`;
    }
  }
  return null;
}

function forSameValue(
  schema: Schema,
  lookup: Readonly<Record<string, Schema | boolean>>,
): readonly Schema[] {
  const target = lookup[schema.__absolute_ref__ ?? ''];
  const below: readonly unknown[] = [
    target,
    ...(schema.$recursiveRef === undefined
      ? []
      : [lookup[schema.__absolute_recursive_ref__ ?? '']]),
    ...ONE.map((keyword) => schema[keyword]),
    ...LISTS.flatMap((keyword) => schema[keyword] ?? []),
    ...MAPS.flatMap((keyword) => Object.values(schema[keyword] ?? {})),
  ];
  return below.filter(isSchema);
}

function isSchema(value: unknown): value is Schema {
  return isJsonObject(value);
}
