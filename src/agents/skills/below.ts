import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AgentProblem } from '../../protocol/agent.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import { readText } from '../loader/read-text.ts';
import { walkFiles, type SkippedPath } from '../loader/walk.ts';
import type { DiscoveredSkills } from './discover.ts';
import { MAX_SKILL_BYTES, SKILL_FORMAT } from './files.ts';
import { readSkill } from './read.ts';

/** Directory entries that are looked at, and levels that are looked into. */
const MAX_ENTRIES = 200_000;
const MAX_DEPTH = 24;
/** Bytes that are read. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Every skill below a directory, or the one that it is, wherever they lie: for looking at a collection,
 * and not for use, so nobody need trust it, and none shadows another. `directory` is absolute; throws
 * when it cannot be read.
 */
export async function skillsBelow(directory: string): Promise<DiscoveredSkills> {
  const boundary = realpathSync.native(directory);
  const budget = { entries: MAX_ENTRIES };
  const walk = walkFiles(boundary, { ...SKILL_FORMAT, boundary, budget, maxDepth: MAX_DEPTH });
  const skills: SkillDefinition[] = [];
  const skipped: SkippedPath[] = [...walk.skipped];
  const problems: AgentProblem[] = [];
  let left = MAX_BYTES;
  for (const { path, realPath } of walk.files) {
    const text = left < MAX_SKILL_BYTES ? TOO_MANY_BYTES : readText(realPath);
    if (text.ok) left -= text.bytes;
    const read = text.ok
      ? await readSkill({ path, directory: dirname(path), scope: 'project', text: text.text })
      : { ok: false as const, problem: { path, code: text.code, message: text.reason } };
    if (read.ok) {
      skills.push(read.skill);
    } else {
      problems.push(read.problem);
      skipped.push({ path, code: read.problem.code, reason: read.problem.message });
    }
  }
  return { skills, shadowed: [], skipped, problems };
}

const TOO_MANY_BYTES = {
  ok: false,
  code: 'too-many-bytes',
  reason: `Not read: the files before it hold ${MAX_BYTES / 1024 / 1024} MB.`,
} as const;
