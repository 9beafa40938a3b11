import { byteLength, oneLine, truncate } from '../../base/text.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';

/** UTF-8, for all lines together: about 1,500 tokens, however many skills there are. */
export const CATALOGUE_BYTES = 6_000;
/** Lengths in characters that descriptions are cut to, the first one with which all of them fit. */
const LENGTHS = [300, 200, 140, 100];
/** Of the bytes, what names without a description may take. */
const NAMES_SHARE = 0.4;
/** For what ends a line of names. */
const LINE_BYTES = 120;

/**
 * What a model chooses skills by, a line each: name and description. Where they do not fit, descriptions
 * are shortened first; then the first ones keep theirs, the next are named, and the rest is counted. The
 * same skills give the same bytes.
 */
export function catalogue(
  skills: readonly SkillDefinition[],
  maxBytes = CATALOGUE_BYTES,
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
    ...(named.length === 0 ? [] : [`By name alone: ${named.join(', ')}`]),
    ...(left === 0 ? [] : [`${left} more: Skill with a word of the topic names those that fit`]),
  ];
}

function line({ name, description, context, argumentHint }: SkillDefinition, most: number): string {
  const whole = oneLine(description);
  const shown = truncate(whole, most);
  const about = `${shown}${shown.length < whole.length ? '…' : ''}`;
  const takes = argumentHint === undefined ? '' : ` ${truncate(argumentHint, 60)}`;
  return `${name}${takes}${context === 'fork' ? ' (a task of its own)' : ''}: ${about}`;
}

function bytesOf(lines: readonly string[]): number {
  return lines.reduce((sum, each) => sum + byteLength(each) + 1, 0);
}

/** As many, from the first, as fit with so many bytes between them. */
function fitting(texts: readonly string[], maxBytes: number, between = 1): readonly string[] {
  let used = 0;
  const end = texts.findIndex((text) => {
    used += byteLength(text) + between;
    return used > maxBytes;
  });
  return end === -1 ? texts : texts.slice(0, end);
}
