import { isJsonObject } from '../base/json.ts';
import { collapseWhitespace, truncate } from '../base/text.ts';

const KINDS = ['tool', 'denial', 'rule', 'isolation'] as const;
type UnmetKind = (typeof KINDS)[number];

/** Something that a definition asks for and that its task does not get. */
export interface UnmetRequest {
  /** `denial`: a tool that is to be denied, and that nobody knows. `rule`: a rule that cannot be read. */
  readonly kind: UnmetKind;
  /** The name of the tool, or the kind of isolation, as the definition has it. */
  readonly name: string;
  /** One sentence. */
  readonly reason: string;
}

/** Reads the requests from a log, which may contain anything. Invalid ones are left out. */
export function readUnmetRequests(logged: unknown): readonly UnmetRequest[] {
  return Array.isArray(logged) ? logged.filter(isUnmetRequest) : [];
}

function isUnmetRequest(value: unknown): value is UnmetRequest {
  if (!isJsonObject(value) || !KINDS.some((known) => known === value['kind'])) return false;
  return typeof value['name'] === 'string' && typeof value['reason'] === 'string';
}

/** The maximum number of requests that are listed, and of code points of each. A file can contain any number. */
const SHOWN_REQUESTS = 12;
const SHOWN_LENGTH = 300;

/** Formats the requests, one line each. */
export function formatUnmetRequests(requests: readonly UnmetRequest[]): readonly string[] {
  const lines = requests.slice(0, SHOWN_REQUESTS).map(({ kind, name, reason }) => {
    const what = kind === 'tool' ? name : `${kind === 'denial' ? 'denial of' : kind} ${name}`;
    return truncate(collapseWhitespace(`${what}: ${reason}`), SHOWN_LENGTH);
  });
  const more = requests.length - SHOWN_REQUESTS;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

/**
 * Returns a warning for people and parents about what a task of an agent does not get; null if it gets
 * everything.
 */
export function formatUnmetWarning(
  agent: string,
  requests: readonly UnmetRequest[],
): string | null {
  if (requests.length === 0) return null;
  return `${agent} does not get all that its definition asks for: ${formatUnmetRequests(requests).join(' ')}`;
}
