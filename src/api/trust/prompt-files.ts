import { promptTextFormat } from '../../agents/loader/referenced-files.ts';
import { agentText } from '../../agents/loader/read-text.ts';
import { isInside } from '../../sys/paths.ts';
import type { ProjectFileReading } from '../../sys/project-file.ts';
import type { ProjectFile } from './project-files.ts';

/** The files of the project that agents among these take their prompts from, and that are none themselves. */
export async function promptFiles(
  found: readonly { readonly file: ProjectFile; readonly reading: ProjectFileReading }[],
): Promise<readonly ProjectFile[]> {
  const agents = new Set(found.filter(({ file }) => file.kind === 'agent').map(pathOf));
  const prompts = new Map<string, ProjectFile>();
  for (const { file, reading } of found) {
    const text = reading.kind === 'read' ? agentText(reading.bytes) : undefined;
    if (file.format === undefined || text?.ok !== true) continue;
    for (const path of await file.format.filesBeside(file.path, text.text)) {
      if (!isInside(file.boundary, path) || agents.has(path)) continue;
      prompts.set(path, { ...file, path, format: promptTextFormat });
    }
  }
  return [...prompts.values()];
}

function pathOf({ file }: { readonly file: ProjectFile }): string {
  return file.path;
}
