import { join } from 'node:path';
import { firstDirectoryNames } from '../sys/files/directory-names.ts';
import { PROJECT_MEMORY_DIRECTORIES } from '../sys/files/memory-directories.ts';
import type { ProjectFileKind, ProjectFileRequest } from '../sys/files/project-file.ts';
import { projectClaudeFiles } from '../config/claude-files.ts';
import { MAX_SETTINGS_BYTES } from '../config/settings-file.ts';
import { findConfigFiles, type UserEnvironment } from '../config/paths.ts';
import { INDEX_NAME, DIRECTORY_BYTES } from '../tools/memory/notes.ts';
import {
  agentEffects,
  commandEffects,
  definitionEffects,
  skillEffects,
  templateEffects,
} from './definition-effects.ts';
import { serverEffects, type FileEffects } from './file-effects.ts';
import { hookEffects } from './hook-definitions.ts';
import { listProjectHookFiles, mayHoldHooks } from './hook-files.ts';
import { MAX_MCP_FILE_BYTES, PROJECT_MCP_FILE } from '../mcp/read-servers.ts';
import { SKILLS, TEMPLATES, AGENTS } from '../agents/kinds.ts';
import { SLASH_COMMANDS } from '../agents/commands/kind.ts';
import type { DefinitionKind } from '../agents/loader/format.ts';
import { listDefinitionFiles } from '../agents/loader/list-files.ts';
import { MAX_DEFINITION_BYTES } from '../agents/loader/read-text.ts';
import { createSearchContext, type SearchContext } from '../agents/loader/search-context.ts';

/** A file of the project that has an effect on Muster if it is trusted. */
export interface ProjectFile extends ProjectFileRequest {
  /** Describes what the definitions in the file would do. Absent if the file holds no definitions. */
  readonly grants?: (bytes: Buffer) => Promise<FileEffects>;
  /** Returns the paths of the other files that the definitions in this file refer to. */
  readonly referencedFiles?: (text: string) => Promise<readonly string[]>;
  /** Tells by its content whether the file can have an effect. Default: it can. */
  readonly isOfUse?: (bytes: Buffer) => boolean;
  /** For a file of kind `permissions`: the directory that patterns like `/src/**` are relative to. */
  readonly directory?: string;
}

/** A file that has the name of a definition, but can never have an effect. */
export interface UnusableFile {
  readonly kind: ProjectFileKind;
  readonly path: string;
  readonly reason: string;
}

/**
 * Returns every file that could have an effect in `cwd` (absolute and real), in the directories that a run searches.
 * The files are not opened, and some of them may not exist.
 */
export function findProjectFiles(
  cwd: string,
  { environment, home }: UserEnvironment,
): { readonly files: readonly ProjectFile[]; readonly unusable: readonly UnusableFile[] } {
  const context = createSearchContext(cwd, environment);
  const definitions = [
    definitionFiles(AGENTS, agentEffects, context),
    definitionFiles(SKILLS, skillEffects, context),
    definitionFiles(TEMPLATES, templateEffects, context),
    definitionFiles(SLASH_COMMANDS, commandEffects, context),
  ];
  return {
    files: [
      ...findConfigFiles(cwd).map((path) =>
        settingsFile('config', { path, boundary: context.root }),
      ),
      ...projectClaudeFiles(cwd, home).map((file) => settingsFile('permissions', file)),
      ...definitions.flatMap(({ files }) => files),
      ...memoryFiles(context.root),
      {
        kind: 'mcp',
        path: join(cwd, PROJECT_MCP_FILE),
        boundary: cwd,
        maxBytes: MAX_MCP_FILE_BYTES,
        grants: serverEffects,
      },
      ...listProjectHookFiles(cwd, home).map(({ kind, path, boundary, maxBytes }) => ({
        kind,
        path,
        boundary,
        maxBytes,
        isOfUse: mayHoldHooks,
        grants: async (bytes: Buffer) => hookEffects(path, bytes),
      })),
    ],
    unusable: definitions.flatMap(({ unusable }) => unusable),
  };
}

function definitionFiles<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  describe: (item: T) => Promise<readonly string[]> | readonly string[],
  context: SearchContext,
): { readonly files: readonly ProjectFile[]; readonly unusable: readonly UnusableFile[] } {
  const listed = listDefinitionFiles(kind, context, 'project');
  return {
    files: listed.flatMap(({ boundary, searchPath: { format }, files }) =>
      files.map(({ path, locatedName }) => ({
        kind: kind.name,
        path,
        boundary,
        maxBytes: MAX_DEFINITION_BYTES,
        grants: (bytes: Buffer) =>
          definitionEffects({ path, locatedName, format }, bytes, describe),
        referencedFiles: (text: string) => format.referencedFiles(path, text),
      })),
    ),
    unusable: listed.flatMap(({ skipped }) =>
      skipped.map(({ path, reason }) => ({ kind: kind.name, path, reason })),
    ),
  };
}

/** Returns the index files of the agents' notes, which would be part of the agents' prompts. */
function memoryFiles(boundary: string): readonly ProjectFile[] {
  const memoryDirectories = PROJECT_MEMORY_DIRECTORIES.map((name) => join(boundary, name));
  return memoryDirectories.flatMap((directory) =>
    firstDirectoryNames(directory).map((agent) => ({
      kind: 'memory' as const,
      path: join(directory, agent, INDEX_NAME),
      boundary,
      maxBytes: DIRECTORY_BYTES,
    })),
  );
}

function settingsFile(
  kind: 'config' | 'permissions',
  file: Pick<ProjectFile, 'path' | 'boundary' | 'directory'>,
): ProjectFile {
  return { kind, maxBytes: MAX_SETTINGS_BYTES, ...file };
}

/** Returns the maximum size in bytes of a file of this kind. */
export function maxFileBytes(kind: ProjectFileKind): number {
  switch (kind) {
    case 'agent':
    case 'skill':
    case 'template':
    case 'command':
      return MAX_DEFINITION_BYTES;
    case 'memory':
      return DIRECTORY_BYTES;
    case 'mcp':
      return MAX_MCP_FILE_BYTES;
    case 'config':
    case 'hooks':
    case 'permissions':
      return MAX_SETTINGS_BYTES;
  }
}
