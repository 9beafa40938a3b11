import { join } from 'node:path';
import type { AgentFormat } from '../../agents/loader/kind.ts';
import { projectAgentFiles } from '../../agents/agent-files.ts';
import { namesIn } from '../../sys/directory-names.ts';
import { MAX_AGENT_BYTES } from '../../agents/loader/read-text.ts';
import { MAX_SKILL_BYTES, projectSkillFiles } from '../../agents/skills/files.ts';
import { MAX_TEMPLATE_BYTES } from '../../agents/templates/discover.ts';
import { projectTemplateFiles } from '../../agents/templates/places.ts';
import { surroundingsOf } from '../../agents/loader/search-context.ts';
import { PROJECT_AGENT_MEMORY } from '../../sys/memory-places.ts';
import type { ProjectFileKind, ProjectFileRequest } from '../../sys/project-file.ts';
import { INDEX_NAME } from '../../tools/memory/index-file.ts';
import { DIRECTORY_BYTES } from '../../tools/memory/limits.ts';
import { projectClaudeFiles } from '../config/claude-places.ts';
import { findConfigFiles } from '../config/project-file.ts';
import { MAX_SETTINGS_BYTES } from '../config/settings-file.ts';
import type { UserPlace } from '../config/paths.ts';

/** A file that acts on what Muster does in a project, once it is trusted. */
export interface ProjectFile extends ProjectFileRequest {
  /** Of agent files. */
  readonly format?: AgentFormat;
  /** Of permission files: what patterns like `/src/**` count from. */
  readonly directory?: string;
}

/** What is found by name and can never act, and why. */
export interface UnusableFile {
  readonly kind: ProjectFileKind;
  readonly path: string;
  readonly reason: string;
}

/**
 * Every file that could act in `cwd` (absolute and real), looked for where a run looks. They need not
 * exist, and none is opened.
 */
export function findProjectFiles(
  cwd: string,
  { environment, home }: UserPlace,
): { readonly files: readonly ProjectFile[]; readonly unusable: readonly UnusableFile[] } {
  const around = surroundingsOf(cwd, environment);
  const { root: boundary } = around;
  const agents = projectAgentFiles(around);
  const skills = projectSkillFiles(around);
  const templates = projectTemplateFiles(around);
  return {
    files: [
      ...findConfigFiles(cwd).map((path) => settings('config', { path, boundary })),
      ...projectClaudeFiles(cwd, home).map((place) => settings('permissions', place)),
      ...agents.files.map((file) => ({
        kind: 'agent' as const,
        maxBytes: MAX_AGENT_BYTES,
        ...file,
      })),
      ...skills.files.map((file) => ({
        kind: 'skill' as const,
        maxBytes: MAX_SKILL_BYTES,
        ...file,
      })),
      ...templates.files.map((file) => ({
        kind: 'template' as const,
        maxBytes: MAX_TEMPLATE_BYTES,
        ...file,
      })),
      ...memoryFiles(boundary),
    ],
    unusable: [
      ...agents.skipped.map(({ path, reason }) => ({ kind: 'agent' as const, path, reason })),
      ...skills.skipped.map(({ path, reason }) => ({ kind: 'skill' as const, path, reason })),
      ...templates.skipped.map(({ path, reason }) => ({ kind: 'template' as const, path, reason })),
    ],
  };
}

/** The notes of agents that would enter their prompts. */
function memoryFiles(boundary: string): readonly ProjectFile[] {
  const tops = PROJECT_AGENT_MEMORY.map((name) => join(boundary, name));
  return tops.flatMap((top) =>
    namesIn(top).map((agent) => ({
      kind: 'memory' as const,
      path: join(top, agent, INDEX_NAME),
      boundary,
      maxBytes: DIRECTORY_BYTES,
    })),
  );
}

function settings(
  kind: 'config' | 'permissions',
  place: Pick<ProjectFile, 'path' | 'boundary' | 'directory'>,
): ProjectFile {
  return { kind, maxBytes: MAX_SETTINGS_BYTES, ...place };
}

/** The limit for a file of this kind that is known from before, wherever it lies now. */
export function maxBytesOf(kind: ProjectFileKind): number {
  switch (kind) {
    case 'agent':
      return MAX_AGENT_BYTES;
    case 'skill':
      return MAX_SKILL_BYTES;
    case 'template':
      return MAX_TEMPLATE_BYTES;
    case 'memory':
      return DIRECTORY_BYTES;
    case 'config':
    case 'permissions':
      return MAX_SETTINGS_BYTES;
  }
}
