import { quoteLine } from '../../base/code-search/format-ranking.ts';
import { isJsonObject } from '../../base/json.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import type { ToolCallPart } from '../../protocol/message.ts';
import type { Intent } from './intent.ts';
import type { Situation } from './situation.ts';
import { MAX_TOPICS } from './topics.ts';

const HOW_TO_CONFIGURE =
  'For that, configure a model: set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OLLAMA_HOST, or name one with --model.';

/** The answer to a message without anything to search for. */
export const HELP = `The offline engine finds places in the workspace: ask, for example, “Where are settings read?”. It holds no conversation. ${HOW_TO_CONFIGURE}`;

export const NO_TOOLS = `The offline engine answers by searching with FindPlaces or Grep, and this agent has neither. ${HOW_TO_CONFIGURE}`;

/** The sentences about the part of a request that the engine cannot fulfil, by the kind of work that the request asks for. */
export const LIMITATIONS = {
  change: `The offline engine only searches: it does not write, change or run anything. ${HOW_TO_CONFIGURE} These are the places that matter to the request:`,
  judge: `The offline engine only searches: it cannot judge code. ${HOW_TO_CONFIGURE} This is what it finds:`,
  diff: `The offline engine only searches what is there: it neither lists nor judges changes. \`git status\` and \`git diff\` list them. ${HOW_TO_CONFIGURE}`,
  outline: `The offline engine cannot put code into words: this is an outline. ${HOW_TO_CONFIGURE}`,
} as const;

/**
 * Answers with the report of a search, and names the calls that failed. `report`: null if no search succeeded.
 */
export function answerFromSearch(
  { beyond }: Intent,
  situation: Situation,
  report: string | null,
): string {
  const failures = describeFailures(situation);
  const findings = report ?? 'Nothing found that fits.';
  return [...(beyond === null ? [] : [LIMITATIONS[beyond]]), findings, ...failures].join('\n\n');
}

/** Returns a text with the calls that failed; empty: no call failed. */
export function describeFailures({ rounds }: Situation): readonly string[] {
  const failures = rounds
    .flat()
    .flatMap(({ call, result }) =>
      result?.isError === true
        ? [`- ${truncate(quoteLine(`${call.name}: ${result.text}`), 200)}`]
        : [],
    );
  if (failures.length === 0) return [];
  const more = failures.length > 3 ? [`- … and ${failures.length - 3} more`] : [];
  return [['Searches that failed:', ...failures.slice(0, 3), ...more].join('\n')];
}

/** Merges the answers of subagents; null: no subagent was asked, or all of them failed. */
export function answerFromChildren(topics: readonly string[], situation: Situation): string | null {
  const outcomes = situation.rounds.flat().filter(({ call }) => call.name === 'Task');
  if (outcomes.every(({ result }) => result === null || result.isError)) return null;
  const parts = outcomes.map(({ call, result }, index) => {
    const text = result === null ? 'No result came back.' : removeTaskLines(result.text);
    const answer = result?.isError === true ? `Not answered: ${text}` : text;
    if (outcomes.length === 1) return answer;
    const title = topics.length === outcomes.length ? topics[index] : findAgentType(call);
    return `## ${collapseWhitespace(title ?? `Topic ${index + 1}`)}\n\n${answer}`;
  });
  const remaining = topics.slice(MAX_TOPICS);
  if (remaining.length > 0) {
    parts.push(
      `Not searched (at most ${MAX_TOPICS} topics at once): ${remaining.map(collapseWhitespace).join('; ')}`,
    );
  }
  return parts.join('\n\n');
}

function findAgentType({ input }: ToolCallPart): string | undefined {
  const type = isJsonObject(input) ? input['subagent_type'] : undefined;
  return typeof type === 'string' ? type : undefined;
}

/** Removes the lines that Muster adds to the end of a child's result. They are for the model and not for the answer. */
function removeTaskLines(text: string): string {
  const musterLines =
    /(?:\n*\[The (?:task|last|log) [^\n]*\])?\n*\[task [a-z0-9]{8,32} · [^\n]*\]\s*$/;
  return text.replace(musterLines, '').trim();
}
