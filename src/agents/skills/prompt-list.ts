import { byteLength, collapseWhitespace, truncate } from '../../base/text.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';

/** The maximum number of bytes of all lines together (about 1,500 tokens), however many skills there are. */
export const MAX_SKILL_LIST_BYTES = 6_000;
/**
 * The lengths in characters to which descriptions may be truncated. The first length with which all skills fit is used.
 */
const DESCRIPTION_LENGTHS = [300, 200, 140, 100];
/** The share of the bytes for names without a description. */
const NAMES_SHARE = 0.4;
/** The number of bytes that are reserved for each of the last two lines. */
const LINE_BYTES = 120;

/**
 * Returns a line with the name and description of each skill, so that the model can choose one. If the lines do not
 * fit, the descriptions are truncated. If they still do not fit, only the first skills have descriptions, the next
 * skills are only named, and the remaining skills are only counted. The same skills always give the same bytes.
 */
export function listSkillsForPrompt(
  skills: readonly SkillDefinition[],
  maxBytes = MAX_SKILL_LIST_BYTES,
): readonly string[] {
  for (const length of DESCRIPTION_LENGTHS) {
    const lines = skills.map((skill) => formatLine(skill, length));
    if (countBytes(lines) <= maxBytes) return lines;
  }
  const names = skills.map(({ name }) => name);
  const nameBytes = Math.min(countBytes(names) + names.length, maxBytes * NAMES_SHARE);
  const described = takeFitting(
    skills.map((skill) => formatLine(skill, DESCRIPTION_LENGTHS.at(-1) ?? 0)),
    maxBytes - nameBytes - 2 * LINE_BYTES,
  );
  const others = names.slice(described.length);
  const named = takeFitting(others, nameBytes, ', '.length);
  const remaining = others.length - named.length;
  return [
    ...described,
    ...(named.length === 0 ? [] : [`Only by name: ${named.join(', ')}`]),
    ...(remaining === 0
      ? []
      : [`${remaining} more: call Skill with a word of the topic to list those that fit`]),
  ];
}

function formatLine(
  { name, description, context, argumentHint }: SkillDefinition,
  maxLength: number,
): string {
  const full = collapseWhitespace(description);
  const shown = truncate(full, maxLength);
  const shownDescription = `${shown}${shown.length < full.length ? '…' : ''}`;
  const hint = argumentHint === undefined ? '' : ` ${truncate(argumentHint, 60)}`;
  return `${name}${hint}${context === 'fork' ? ' (a task of its own)' : ''}: ${shownDescription}`;
}

function countBytes(lines: readonly string[]): number {
  return lines.reduce((sum, each) => sum + byteLength(each) + 1, 0);
}

/**
 * Returns the first texts that fit into the bytes.
 *
 * @param between the number of bytes between two texts
 */
function takeFitting(texts: readonly string[], maxBytes: number, between = 1): readonly string[] {
  let used = 0;
  const end = texts.findIndex((text) => {
    used += byteLength(text) + between;
    return used > maxBytes;
  });
  return end === -1 ? texts : texts.slice(0, end);
}
