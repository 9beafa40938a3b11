import { isInside } from '../sys/files/paths.ts';
import type { ProjectFileReading } from '../sys/files/project-file.ts';
import type { ProjectFile } from './project-files.ts';
import { decodeUtf8 } from '../agents/loader/read-text.ts';

/** Returns the files of the project from which agents take their prompts and which hold no agent themselves. */
export async function promptFiles(
  found: readonly { readonly file: ProjectFile; readonly reading: ProjectFileReading }[],
): Promise<readonly ProjectFile[]> {
  const agents = new Set(
    found.filter(({ file }) => file.kind === 'agent').map(({ file }) => file.path),
  );
  const prompts = new Map<string, ProjectFile>();
  for (const { file, reading } of found) {
    const text = reading.kind === 'read' ? decodeUtf8(reading.bytes) : undefined;
    if (file.referencedFiles === undefined || text?.ok !== true) continue;
    for (const path of await file.referencedFiles(text.text)) {
      if (!isInside(file.boundary, path) || agents.has(path)) continue;
      const { kind, boundary, maxBytes } = file;
      prompts.set(path, { kind, boundary, maxBytes, path, grants: promptGrants });
    }
  }
  return [...prompts.values()];
}

async function promptGrants(bytes: Buffer) {
  const text = decodeUtf8(bytes);
  const line = text.ok
    ? 'the prompt of an agent that another file defines; read it in the file'
    : `nothing: ${text.reason}`;
  return { lines: [line], problems: [] };
}
