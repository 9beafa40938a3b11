import type { JsonObject } from '../../base/json.ts';
import { fail, ok, warn, type Check } from '../../protocol/check.ts';
import { userMessage } from '../../protocol/message.ts';
import type { ToolSpec } from '../../protocol/model.ts';
import { describeFailure, failureText, isPassing } from './describe-failure.ts';
import type { ProbeAnswer, ProbeRequest } from './probe-client.ts';

/** The features of JSON Schema that servers and their models support in part, each with a property that uses it. */
const FEATURES = {
  'nested objects': {
    type: 'object',
    properties: { inner: { type: 'object', properties: { value: { type: 'string' } } } },
  },
  enum: { type: 'string', enum: ['low', 'high'] },
  anyOf: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
  $ref: { $ref: '#/$defs/Point' },
  additionalProperties: { type: 'object', additionalProperties: { type: 'string' } },
  'lists of types': { type: ['string', 'null'] },
} as const satisfies Readonly<Record<string, JsonObject>>;
export type SchemaFeature = keyof typeof FEATURES;

export const SCHEMA_FEATURES: readonly SchemaFeature[] = [
  'nested objects',
  'enum',
  'anyOf',
  '$ref',
  'additionalProperties',
  'lists of types',
];

/** Creates the description of a tool whose schema has these features. */
function createTool(features: readonly SchemaFeature[]): ToolSpec {
  const properties = features.map((feature, index) => [`field_${index + 1}`, FEATURES[feature]]);
  return {
    name: 'Configure',
    description: 'Changes settings.',
    inputSchema: {
      type: 'object',
      properties: { name: { type: 'string' }, ...Object.fromEntries(properties) },
      required: ['name'],
      ...(features.includes('$ref') && {
        $defs: { Point: { type: 'object', properties: { x: { type: 'number' } } } },
      }),
    },
  };
}

/** Creates a request with a tool whose schema has these features. The tool need not be called. */
export function createSchemaRequest(features: readonly SchemaFeature[]): ProbeRequest {
  return {
    messages: [userMessage('Answer with the word "ready". Call no tool.')],
    tools: [createTool(features)],
  };
}

/** The features that a server refuses. */
export interface RefusedFeatures {
  /** The features of which it refuses each one. */
  readonly each: readonly SchemaFeature[];
  /** Features of which it refuses at least one. It was not found out which. */
  readonly some: readonly SchemaFeature[];
}

/** The outcome of one request; null: no further request can be sent. */
type IsAccepted = (features: readonly SchemaFeature[]) => Promise<boolean | null>;

/**
 * Finds the features that a server refuses, of a set that it refuses as a whole, with few requests. `suspects`: the
 * features that the refusal names.
 */
export async function findRefusedFeatures(
  refused: readonly SchemaFeature[],
  suspects: readonly SchemaFeature[],
  isAccepted: IsAccepted,
): Promise<RefusedFeatures> {
  if (refused.length === 1) return { each: refused, some: [] };
  const named = refused.filter((feature) => suspects.includes(feature));
  const half = refused.slice(0, Math.ceil(refused.length / 2));
  const part = named.length > 0 && named.length < refused.length ? named : half;
  const rest = refused.filter((feature) => !part.includes(feature));
  const isRestAccepted = await isAccepted(rest);
  if (isRestAccepted === null) return { each: [], some: refused };
  if (isRestAccepted) return findRefusedFeatures(part, [], isAccepted);
  const inRest = await findRefusedFeatures(rest, [], isAccepted);
  const isPartAccepted = await isAccepted(part);
  if (isPartAccepted === true) return inRest;
  if (isPartAccepted === null) return { each: inRest.each, some: [...inRest.some, ...part] };
  const inPart = await findRefusedFeatures(part, [], isAccepted);
  return { each: [...inPart.each, ...inRest.each], some: [...inPart.some, ...inRest.some] };
}

/** Returns the features that a refusal names. */
export function findNamedFeatures({ end }: ProbeAnswer): readonly SchemaFeature[] {
  if (end.type !== 'failed') return [];
  const { message } = end.failure;
  return SCHEMA_FEATURES.filter((feature) => {
    if (feature === 'lists of types') return /\btype\b.{0,40}(?:list|array|string)/i.test(message);
    if (feature === '$ref') return /\$(?:ref|defs)\b/.test(message);
    return feature !== 'nested objects' && new RegExp(`\\b${feature}\\b`, 'i').test(message);
  });
}

const NAME = 'tool schemas';

/** Judges the answer to the request with all features. Returns null if a part of the schema may be refused. */
export function judgeSchema(answer: ProbeAnswer): Check | null {
  const { end } = answer;
  if (end.type === 'finished') return ok(NAME, `accepted: ${SCHEMA_FEATURES.join(', ')}`);
  if (!isPassing(end.failure) && end.failure.kind === 'bad_request') return null;
  return describeFailure(NAME, end.failure);
}

/** Describes the features that a server refuses. */
export function describeRefusedFeatures(
  answer: ProbeAnswer,
  { each, some }: RefusedFeatures,
): Check {
  const text = answer.end.type === 'failed' ? failureText(answer.end.failure) : '';
  const parts = [
    ...(each.length === 0 ? [] : [each.join(', ')]),
    ...(some.length === 0 ? [] : [`at least one of ${some.join(', ')}`]),
  ];
  const detail = `refused: ${parts.join('; ')} (${text})`;
  const needed = [...each, ...some].filter((feature) => USED_BY_TOOLS.has(feature));
  return needed.length > 0
    ? fail(
        NAME,
        detail,
        `update the server or choose another one: the tools of Muster need ${needed.join(', ')}`,
      )
    : warn(NAME, detail, 'do without these in the schemas of structured results');
}

/** The features that the schemas of Muster's own tools use. */
const USED_BY_TOOLS: ReadonlySet<SchemaFeature> = new Set(['nested objects', 'enum', 'anyOf']);
