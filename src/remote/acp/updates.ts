import type { ContentBlock, SessionUpdate } from '@agentclientprotocol/sdk';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { truncate } from '../../base/text.ts';

/** A piece of what a program says: its answer, or its thinking and its own steps. */
export interface SpokenPiece {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

/** A step that a program has taken itself, as it describes it. */
interface OwnStep {
  readonly title: string;
  readonly kind: string;
  readonly status: string;
  readonly paths: readonly string[];
}

/** The maximum number of steps that are remembered. The program may use any number of ids. */
const MAX_STEPS = 10_000;
const MAX_TITLE_LENGTH = 200;
const MAX_PATHS = 5;
/** The states in which a step is at work. */
const OPEN_STATES: ReadonlySet<string> = new Set(['pending', 'in_progress']);

/** Turns the updates of a program into pieces of its answer, and remembers its own steps. */
export class UpdateReader {
  private readonly steps = new Map<string, OwnStep>();

  /** The number of the program's own steps that are at work. */
  get openSteps(): number {
    let count = 0;
    for (const { status } of this.steps.values()) if (OPEN_STATES.has(status)) count += 1;
    return count;
  }

  /** Returns the piece that an update adds; null if it adds none. */
  read(update: SessionUpdate): SpokenPiece | null {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return { type: 'text', text: toText(update.content) };
      case 'agent_thought_chunk':
        return { type: 'reasoning', text: toText(update.content) };
      case 'tool_call':
      case 'tool_call_update':
        return this.readStep(update);
      case 'plan':
        return note(`plan: ${update.entries.map(({ content }) => toTitle(content)).join('; ')}`);
      default:
        return null;
    }
  }

  private readStep(
    update: Extract<SessionUpdate, { sessionUpdate: 'tool_call' | 'tool_call_update' }>,
  ): SpokenPiece | null {
    const { toolCallId: id } = update;
    const known = this.steps.get(id);
    if (known === undefined && this.steps.size >= MAX_STEPS) return null;
    const locations = update.locations ?? [];
    const step: OwnStep = {
      title: toTitle(update.title ?? known?.title ?? 'a step without a title'),
      kind: toTitle(update.kind ?? known?.kind ?? 'unknown kind'),
      status: toTitle(update.status ?? known?.status ?? 'pending'),
      paths: locations.length === 0 ? (known?.paths ?? []) : locations.map(({ path }) => path),
    };
    this.steps.set(id, step);
    const isNews = known === undefined || known.status !== step.status;
    return isNews ? note(describeStep(step)) : null;
  }
}

function note(text: string): SpokenPiece {
  return { type: 'reasoning', text: `\n[${text}]\n` };
}

/** Describes a step on one line. The program says all of it. */
function describeStep({ title, kind, status, paths }: OwnStep): string {
  const named = paths
    .slice(0, MAX_PATHS)
    .map(toTitle)
    .filter((path) => !title.includes(path));
  const more = paths.length > MAX_PATHS ? ` and ${paths.length - MAX_PATHS} more` : '';
  const files = named.length === 0 ? '' : ` (${named.join(', ')}${more})`;
  return `its own step, ${kind}, ${status}: ${title}${files}`;
}

function toTitle(text: string): string {
  return truncate(sanitizeLine(text), MAX_TITLE_LENGTH);
}

/** Returns the text of a block. Other content is named, because nothing could show it. */
function toText(content: ContentBlock): string {
  switch (content.type) {
    case 'text':
      return content.text;
    case 'resource_link':
      return `[${toTitle(content.name)}: ${toTitle(content.uri)}]`;
    case 'resource':
      return 'text' in content.resource
        ? content.resource.text
        : `[${toTitle(content.resource.uri)}]`;
    case 'image':
    case 'audio':
      return `[${content.type}: ${toTitle(content.mimeType)}]`;
  }
}
