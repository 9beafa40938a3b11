import type { AgentProblem } from '../../protocol/agent.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import type { Environment } from '../../sys/env.ts';
import { readProjectFile, type ProjectTrust } from '../../sys/project-file.ts';
import { MAX_ENTRIES, type FileSearch } from '../loader/list-files.ts';
import { firstByName } from '../first-by-name.ts';
import { placeText, refuse, type FileText } from '../place-text.ts';
import { newStamp, type Stamp } from '../loader/fingerprint.ts';
import { surroundingsOf, type Surroundings } from '../loader/search-context.ts';
import type { SkippedPath } from '../loader/walk.ts';
import { MAX_SKILL_BYTES, skillFilesIn, type FoundSkillFile } from './files.ts';
import { skillPlaces, type SkillPlace } from './places.ts';

/** Bytes that one discovery reads. */
const MAX_BYTES = 64 * 1024 * 1024;

export interface DiscoverSkillsOptions {
  /** Absolute. */
  readonly cwd: string;
  readonly environment: Environment;
  /** Which files of the project may act. The others are listed as skipped, and not parsed. */
  readonly trust: ProjectTrust;
  /** Paths on which it depends beside the skill files: for the stamp. */
  readonly dependsOn?: readonly string[];
  /** What lies around `cwd`, where it is known already as it is now. */
  readonly around?: Surroundings;
}

/** A skill whose name another one has that was found before it. */
export interface ShadowedSkill {
  readonly skill: SkillDefinition;
  /** The path of the one that counts. */
  readonly by: string;
}

export interface DiscoveredSkills {
  /** In search order; no two of the same name, case ignored. */
  readonly skills: readonly SkillDefinition[];
  readonly shadowed: readonly ShadowedSkill[];
  /**
   * Files that gave no skill, and why. The code of a project's file that nobody has trusted is
   * `untrusted`, and `changed` where its former content was.
   */
  readonly skipped: readonly SkippedPath[];
  /** Files that were meant as skills and could not be loaded. They are in `skipped`, too. */
  readonly problems: readonly AgentProblem[];
}

/** With a stamp (`skillFilesStamp`) of the files as they were then. */
export interface StampedSkills extends DiscoveredSkills {
  readonly stamp: string;
}

interface Search extends FileSearch {
  readonly found: SkillDefinition[];
  readonly skipped: SkippedPath[];
  readonly problems: AgentProblem[];
  readonly budget: { entries: number; bytes: number };
  readonly trust: ProjectTrust;
  readonly stamp: Stamp;
}

/**
 * All skills that can be used in a directory, in the order of `skillPlaces`. Never throws for what a
 * file holds; a file that cannot be loaded keeps no other from loading.
 */
export async function discoverSkills(options: DiscoverSkillsOptions): Promise<StampedSkills> {
  const around = options.around ?? surroundingsOf(options.cwd, options.environment);
  const search: Search = {
    found: [],
    skipped: [],
    problems: [],
    looks: around.looks,
    budget: { entries: MAX_ENTRIES, bytes: MAX_BYTES },
    trust: options.trust,
    stamp: newStamp(),
  };
  for (const place of skillPlaces(around)) {
    await searchPlace(place, search);
  }
  const { found, skipped, problems } = search;
  const stamp = search.stamp.text(options.dependsOn ?? []);
  return { ...shadow(found), skipped, problems, stamp };
}

async function searchPlace(place: SkillPlace, search: Search): Promise<void> {
  const found = skillFilesIn(place, search);
  if (found === undefined) return;
  const { scope, plugin } = place;
  search.stamp.add(found);
  search.skipped.push(...found.skipped);
  if (found.files.length === 0) return;
  // Most projects have no skill.
  const { readSkill } = await import('./read.ts');
  for (const file of found.files) {
    const { path, directory } = file;
    const text = textOf(file, { scope, boundary: found.boundary }, search);
    if (!text.ok) {
      refuse({ path, code: text.code, message: text.reason }, search);
      continue;
    }
    search.budget.bytes -= text.bytes;
    const read = await readSkill({
      path,
      directory,
      scope,
      text: text.text,
      ...(plugin === undefined ? {} : { plugin }),
    });
    if (read.ok) search.found.push(read.skill);
    else refuse(read.problem, search);
  }
}

function textOf(
  file: FoundSkillFile,
  { scope, boundary }: Pick<SkillPlace, 'scope' | 'boundary'>,
  { budget, trust }: Search,
): FileText {
  if (budget.bytes <= 0) {
    const reason = `Not read: the skills before it hold ${MAX_BYTES / 1024 / 1024} MB.`;
    return { ok: false, code: 'too-many-bytes', reason };
  }
  return placeText(file, {
    kind: 'skill',
    scope,
    boundary,
    maxBytes: MAX_SKILL_BYTES,
    readProject: (request) => readProjectFile(request, trust),
  });
}

function shadow(found: readonly SkillDefinition[]): Pick<DiscoveredSkills, 'skills' | 'shadowed'> {
  const { first, later } = firstByName(found);
  return {
    skills: first,
    shadowed: later.map(({ one, first: winner }) => ({ skill: one, by: winner.path })),
  };
}
