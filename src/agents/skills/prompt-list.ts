import { byteLength, collapseWhitespace, truncate } from '../../base/text.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';

/** The maximum number of bytes of all lines together: about 1,500 tokens, however many skills there are. */
export const MAX_SKILL_LIST_BYTES = 6_000;
/** The lengths, in characters, to which descriptions are cut: the first with which all of them fit is used. */
const LENGTHS = [300, 200, 140, 100];
/** The share of the bytes for names without a description. */
const NAMES_SHARE = 0.4;
/** The bytes reserved for each of the last two lines. */
const LINE_BYTES = 120;

/**
 * Returns a line with name and description for each skill, from which the model chooses. If they do not fit, the
 * descriptions are shortened first. Then only the first skills keep theirs, the next ones are only named, and the
 * others are counted. The same skills give the same bytes.
 */
export function listSkillsForPrompt(
  skills: readonly SkillDefinition[],
  maxBytes = MAX_SKILL_LIST_BYTES,
): readonly string[] {
  for (const length of LENGTHS) {
    const lines = skills.map((skill) => line(skill, length));
    if (bytesOf(lines) <= maxBytes) return lines;
  }
  const names = skills.map(({ name }) => name);
  const nameBytes = Math.min(bytesOf(names) + names.length, maxBytes * NAMES_SHARE);
  const described = fitting(
    skills.map((skill) => line(skill, LENGTHS.at(-1) ?? 0)),
    maxBytes - nameBytes - 2 * LINE_BYTES,
  );
  const others = names.slice(described.length);
  const named = fitting(others, nameBytes, ', '.length);
  const left = others.length - named.length;
  return [
    ...described,
    ...(named.length === 0 ? [] : [`Only by name: ${named.join(', ')}`]),
    ...(left === 0
      ? []
      : [`${left} more: call Skill with a word of the topic to list those that fit`]),
  ];
}

function line({ name, description, context, argumentHint }: SkillDefinition, most: number): string {
  const full = collapseWhitespace(description);
  const shown = truncate(full, most);
  const about = `${shown}${shown.length < full.length ? '…' : ''}`;
  const takes = argumentHint === undefined ? '' : ` ${truncate(argumentHint, 60)}`;
  return `${name}${takes}${context === 'fork' ? ' (a task of its own)' : ''}: ${about}`;
}

function bytesOf(lines: readonly string[]): number {
  return lines.reduce((sum, each) => sum + byteLength(each) + 1, 0);
}

/** Returns the first texts that fit into the bytes. `between`: the bytes between two texts. */
function fitting(texts: readonly string[], maxBytes: number, between = 1): readonly string[] {
  let used = 0;
  const end = texts.findIndex((text) => {
    used += byteLength(text) + between;
    return used > maxBytes;
  });
  return end === -1 ? texts : texts.slice(0, end);
}
