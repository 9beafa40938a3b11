import { isJsonObject } from '../base/json.ts';
import { collapseWhitespace, truncate } from '../base/text.ts';

const KINDS = ['tool', 'denial', 'rule', 'isolation'] as const;
/** The kinds of requests of a definition that a task may not get. */
export type UnmetKind = (typeof KINDS)[number];

/** A request of a definition that its task does not get. */
export interface UnmetRequest {
  /** `denial`: the definition denies an unknown tool. `rule`: the definition contains a rule that cannot be parsed. */
  readonly kind: UnmetKind;
  /** The name of the tool, the text of the rule, or the kind of isolation, as in the definition. */
  readonly name: string;
  /** The reason why the task does not get it, in one sentence. */
  readonly reason: string;
}

/** Reads unmet requests from a log, which may contain any value. Invalid entries are left out. */
export function readUnmetRequests(logged: unknown): readonly UnmetRequest[] {
  return Array.isArray(logged) ? logged.filter(isUnmetRequest) : [];
}

function isUnmetRequest(value: unknown): value is UnmetRequest {
  if (!isJsonObject(value) || !KINDS.some((known) => known === value['kind'])) return false;
  return typeof value['name'] === 'string' && typeof value['reason'] === 'string';
}

/** The maximum number of requests that are listed, because a file can contain any number of them. */
const MAX_LISTED_REQUESTS = 12;
/** The maximum number of code points of each listed request. */
const MAX_LISTED_LENGTH = 300;

/** Formats unmet requests as lines: one line for each request. */
export function formatUnmetRequests(requests: readonly UnmetRequest[]): readonly string[] {
  const lines = requests.slice(0, MAX_LISTED_REQUESTS).map(({ kind, name, reason }) => {
    const subject = kind === 'tool' ? name : `${kind === 'denial' ? 'denial of' : kind} ${name}`;
    return truncate(collapseWhitespace(`${subject}: ${reason}`), MAX_LISTED_LENGTH);
  });
  const more = requests.length - MAX_LISTED_REQUESTS;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

/**
 * Formats a warning for people and for the parent about the unmet requests of a task; null: there are none. `agent`: the
 * name of the agent.
 */
export function formatUnmetWarning(
  agent: string,
  requests: readonly UnmetRequest[],
): string | null {
  if (requests.length === 0) return null;
  return `${agent} does not get all that its definition asks for: ${formatUnmetRequests(requests).join(' ')}`;
}
