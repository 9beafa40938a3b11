import type { JsonValue } from '../../base/json.ts';

/** One top-level entry of a front matter. */
export interface Field {
  readonly value: JsonValue;
  /** Line of its key in the file, from 1; undefined where it came from no file. */
  readonly line: number | undefined;
}

/** By key as written. A map and not an object: a key such as `__proto__` is only a word here. */
export type Fields = ReadonlyMap<string, Field>;

/** Something worth telling about a front matter that could be read. */
export interface FieldProblem {
  readonly code: string;
  readonly message: string;
  readonly line?: number;
}
