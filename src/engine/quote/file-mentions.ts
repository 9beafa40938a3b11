import { lookUpAgent } from '../../agents/find-agent.ts';
import { QUOTED_TEXT } from '../../agents/mentions.ts';
import { lazy } from '../../base/lazy.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';

/** `@path`, or `@"path with blanks"`, where a word begins. */
const MENTION = lazy(() => /(?<!\S)[([{'"]?@(?:"([^"\n]{1,4096})"|([^\s"@][^\s"]{0,4095}))/gu);
/** What ends a sentence or closes a bracket may end a name, too: both are looked for. */
const MARKS = /[.,;:!?)\]}'`]+$/;

/** What a person may mean by one `@`: the first of them that is a file. */
export type FileMention = readonly string[];

/**
 * The files that a person's words may name with `@`, in their order: not what names an agent type, nor what
 * stands in code or came along from stdin.
 */
export function fileMentions(
  words: string,
  agents: readonly AgentDefinition[],
): readonly FileMention[] {
  if (!words.includes('@')) return [];
  const found = new Map<string, FileMention>();
  for (const [, quoted, word = ''] of words.replaceAll(QUOTED_TEXT, ' ').matchAll(MENTION())) {
    const names = quoted === undefined ? [word, word.replace(MARKS, '')] : [quoted];
    const meant = [...new Set(names)].filter((name) => name !== '');
    if (meant.some((name) => lookUpAgent(name, agents) !== undefined)) continue;
    found.set(meant.join('\n'), meant);
  }
  return [...found.values()];
}
