import type { JsonObject } from '../../base/json.ts';
import { EFFORTS, type Effort, type FailureKind } from '../../protocol/model.ts';

/**
 * The field of a message in which a server of OpenAI's Chat Completions expects the thoughts of its model back.
 * `content`: as parts of the content.
 */
export type ThoughtsField = 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'content';

/** The efforts that the models of a provider accept, and how they are requested. */
export interface EffortRule {
  /** Matches the ids of the models. Default: all models. */
  readonly models?: RegExp;
  /** The fields of a request for each effort. The nearest effort is sent in place of one that is missing here. */
  readonly fields: Readonly<Partial<Record<Effort, JsonObject>>>;
}

/** The meaning of errors of a provider that their HTTP status does not tell, or tells wrongly. */
export interface ErrorRule {
  /** Matches the messages and codes of the error. A numeric code is written as `code: 1113`. */
  readonly text: RegExp;
  readonly kind: FailureKind;
  /** True if the same request may succeed later. */
  readonly isTransient: boolean;
}

/** The differences of a provider from its protocol, in its requests and answers. */
export interface ProviderQuirks {
  /** Default: the field in which the thoughts came. */
  readonly thoughts?: ThoughtsField;
  /** Matches the ids of the models that cache only what is marked, as Anthropic's do. Default: none does. */
  readonly cacheMarks?: RegExp;
  /** The fields that are added to every request. */
  readonly body?: JsonObject;
  /** The fields that are added to requests with tools. */
  readonly bodyWithTools?: JsonObject;
  /**
   * The first rule that matches a model applies. A model without a rule gets no effort. Default: the protocol's own
   * levels, until the server refuses one.
   */
  readonly efforts?: readonly EffortRule[];
  /** The first rule that matches an error applies. */
  readonly errors?: readonly ErrorRule[];
  /** The limit in tokens on answers for requests that name none. Default: the server's own limit. */
  readonly outputLimit?: number;
}

/** Returns the fields for efforts that are requested by their names in one field, `reasoning_effort` by default. */
export function effortLevels(
  efforts: readonly Effort[],
  toFields: (effort: Effort) => JsonObject = (effort) => ({ reasoning_effort: effort }),
): EffortRule['fields'] {
  return Object.fromEntries(efforts.map((effort) => [effort, toFields(effort)]));
}

/** Returns the fields for efforts that are requested as `reasoning: { effort }`. */
export function reasoningEfforts(efforts: readonly Effort[]): EffortRule['fields'] {
  return effortLevels(efforts, (effort) => ({ reasoning: { effort } }));
}

/** Returns the effort of a rule that is nearest to the wanted one, the higher of two; null: the rule has none. */
export function findNearestEffort(wanted: Effort, { fields }: EffortRule): Effort | null {
  const distance = (effort: Effort): number =>
    Math.abs(EFFORTS.indexOf(effort) - EFFORTS.indexOf(wanted));
  return EFFORTS.filter((effort) => fields[effort] !== undefined).reduce<Effort | null>(
    (nearest, effort) =>
      nearest === null || distance(effort) <= distance(nearest) ? effort : nearest,
    null,
  );
}
