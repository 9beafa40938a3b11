/**
 * Checks for the Agent Trajectory Interchange Format, version 1.7, after the published models of Harbor
 * (`harbor/models/trajectories`): required and allowed fields, types, and the rules between fields.
 */

/** Checks a value at a path. Returns a line for each problem. */
type Check = (value: unknown, at: string) => readonly string[];

interface Field {
  readonly check: Check;
  readonly isRequired?: true;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const type =
  (name: string, is: (value: unknown) => boolean): Check =>
  (value, at) =>
    is(value) ? [] : [`${at}: not ${name}`];

const text = type('a string', (value) => typeof value === 'string');
const flag = type('a boolean', (value) => typeof value === 'boolean');
const count = type('a whole number', (value) => Number.isSafeInteger(value) && Number(value) >= 0);
const amount = type('a number', (value) => typeof value === 'number' && Number.isFinite(value));
const anyObject = type('an object', isObject);
const time = type(
  'a time in ISO 8601',
  (value) => typeof value === 'string' && /^\d{4}-/.test(value) && !Number.isNaN(Date.parse(value)),
);
const oneOf = (...values: readonly unknown[]): Check =>
  type(`one of ${values.join(', ')}`, (value) => values.includes(value));
const either =
  (...checks: readonly Check[]): Check =>
  (value, at) =>
    checks.some((check) => check(value, at).length === 0) ? [] : [`${at}: of no allowed type`];
const list =
  (check: Check, minimum = 0): Check =>
  (value, at) => {
    if (!Array.isArray(value)) return [`${at}: not a list`];
    const short = value.length < minimum ? [`${at}: fewer than ${minimum}`] : [];
    return [...short, ...value.flatMap((item, index) => check(item, `${at}[${index}]`))];
  };

/** Checks an object that has no other fields. A field whose value is null counts as absent. */
function object(fields: Readonly<Record<string, Field>>): Check {
  return (value, at) => {
    if (!isObject(value)) return [`${at}: not an object`];
    const unknown = Object.keys(value).filter((key) => !Object.hasOwn(fields, key));
    return [
      ...unknown.map((key) => `${at}.${key}: not a field of the format`),
      ...Object.entries(fields).flatMap(([key, { check, isRequired }]) => {
        const field = value[key] ?? null;
        if (field !== null) return check(field, `${at}.${key}`);
        return isRequired ? [`${at}.${key}: missing`] : [];
      }),
    ];
  };
}

const must = (check: Check): Field => ({ check, isRequired: true });
const may = (check: Check): Field => ({ check });
const extra = may(anyObject);

const imageSource = object({
  media_type: must(oneOf('image/jpeg', 'image/png', 'image/gif', 'image/webp')),
  path: must(text),
});
const contentPart = object({
  type: must(oneOf('text', 'image')),
  text: may(text),
  source: may(imageSource),
});
const content = either(text, list(contentPart));
const reference = object({
  trajectory_id: may(text),
  session_id: may(text),
  trajectory_path: may(text),
  extra,
});
const toolCall = object({
  tool_call_id: must(text),
  function_name: must(text),
  arguments: must(anyObject),
  extra,
});
const observation = object({
  results: must(
    list(
      object({
        source_call_id: may(text),
        content: may(content),
        subagent_trajectory_ref: may(list(reference)),
        extra,
      }),
    ),
  ),
});
const metrics = object({
  prompt_tokens: may(count),
  completion_tokens: may(count),
  cached_tokens: may(count),
  cost_usd: may(amount),
  prompt_token_ids: may(list(count)),
  completion_token_ids: may(list(count)),
  logprobs: may(list(amount)),
  extra,
});
const step = object({
  step_id: must(count),
  timestamp: may(time),
  source: must(oneOf('system', 'user', 'agent')),
  model_name: may(text),
  reasoning_effort: may(either(text, amount)),
  message: must(content),
  reasoning_content: may(text),
  tool_calls: may(list(toolCall)),
  observation: may(observation),
  metrics: may(metrics),
  is_copied_context: may(flag),
  llm_call_count: may(count),
  extra,
});
const trajectory = object({
  schema_version: must(oneOf('ATIF-v1.7')),
  session_id: may(text),
  trajectory_id: may(text),
  agent: must(
    object({
      name: must(text),
      version: must(text),
      model_name: may(text),
      tool_definitions: may(list(anyObject)),
      extra,
    }),
  ),
  steps: must(list(step, 1)),
  notes: may(text),
  final_metrics: may(
    object({
      total_prompt_tokens: may(count),
      total_completion_tokens: may(count),
      total_cached_tokens: may(count),
      total_cost_usd: may(amount),
      total_steps: may(count),
      extra,
    }),
  ),
  continued_trajectory_ref: may(text),
  extra,
  subagent_trajectories: may(list((value, at) => checkTrajectory(value, at))),
});

const AGENT_FIELDS = [
  'model_name',
  'reasoning_effort',
  'reasoning_content',
  'tool_calls',
  'metrics',
];

interface Step {
  readonly step_id: number;
  readonly source: string;
  readonly tool_calls?: readonly { readonly tool_call_id: string }[];
  readonly observation?: { readonly results: readonly Result[] };
  readonly llm_call_count?: number;
}

interface Result {
  readonly source_call_id?: string;
  readonly subagent_trajectory_ref?: readonly {
    readonly trajectory_id?: string;
    readonly trajectory_path?: string;
  }[];
}

interface Trajectory {
  readonly steps: readonly Step[];
  readonly subagent_trajectories?: readonly { readonly trajectory_id?: string }[];
}

/** Returns a line for each rule of the format that a trajectory breaks. */
export function checkTrajectory(value: unknown, at = 'trajectory'): readonly string[] {
  const problems = trajectory(value, at);
  if (problems.length > 0) return problems;
  const { steps, subagent_trajectories: children = [] } = value as Trajectory;
  const ids = children.map((child) => child.trajectory_id ?? null);
  return [
    ...(ids.includes(null) ? [`${at}: a child has no trajectory_id`] : []),
    ...(new Set(ids).size < ids.length ? [`${at}: two children have one trajectory_id`] : []),
    ...steps.flatMap((each, index) => checkStep(each, { at: `${at}.steps[${index}]`, index, ids })),
  ];
}

function checkStep(
  each: Step,
  {
    at,
    index,
    ids,
  }: { readonly at: string; readonly index: number; readonly ids: readonly unknown[] },
): readonly string[] {
  const calls = (each.tool_calls ?? []).map(({ tool_call_id: id }) => id);
  const results = each.observation?.results ?? [];
  const sources = results.flatMap(({ source_call_id: id }) => id ?? []);
  const refs = results.flatMap((result) => result.subagent_trajectory_ref ?? []);
  const fields = AGENT_FIELDS.filter((field) => Object.hasOwn(each, field));
  const isWithoutModel = each.source === 'agent' && each.llm_call_count === 0;
  return [
    ...(each.step_id === index + 1 ? [] : [`${at}: step_id ${each.step_id}`]),
    ...(each.source === 'agent' ? [] : fields.map((field) => `${at}: ${field} of no agent`)),
    ...(isWithoutModel && (fields.includes('metrics') || fields.includes('reasoning_content'))
      ? [`${at}: metrics without a request`]
      : []),
    // The RFC describes such a step as one that issues calls without a model, and some readers insist on them.
    ...(isWithoutModel && calls.length === 0 ? [`${at}: neither a request nor a call`] : []),
    ...(new Set(calls).size < calls.length ? [`${at}: two calls with one id`] : []),
    ...(new Set(sources).size < sources.length ? [`${at}: two results of one call`] : []),
    ...sources.filter((id) => !calls.includes(id)).map((id) => `${at}: no call ${id}`),
    ...refs
      .filter((ref) => ref.trajectory_path === undefined && !ids.includes(ref.trajectory_id))
      .map((ref) => `${at}: no child ${ref.trajectory_id}`),
  ];
}
