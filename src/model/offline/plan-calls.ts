import type { JsonObject } from '../../base/json.ts';

export interface PlannedCall {
  readonly name: string;
  readonly input: JsonObject;
}

const CHILD_FORM =
  'Answer with the three best places as path:line, the line quoted, and one short reason each.';

/** A subagent of that type asked about one topic. */
export function delegation(topic: string, type: string): PlannedCall {
  const words = topic
    .replace(/[^\p{L}\p{N}\s_.-]+/gu, ' ')
    .trim()
    .split(/\s+/);
  return {
    name: 'Task',
    input: {
      description: words.slice(0, 5).join(' '),
      prompt: `${topic}\n\n${CHILD_FORM}`,
      subagent_type: type,
    },
  };
}

/** A glob of exactly these files. What means something in a glob stands as `?`, which fits it. */
export function globOf(paths: readonly string[]): string {
  const plain = paths.map((path) => path.replace(/[*?[\](){}|!,\\]/g, '?'));
  return plain.length === 1 ? (plain[0] ?? '') : `{${plain.join(',')}}`;
}
