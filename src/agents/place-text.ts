import type { AgentProblem } from '../protocol/agent.ts';
import {
  untrustedReason,
  type ProjectFileReading,
  type ProjectFileRequest,
} from '../sys/project-file.ts';
import { agentText, readText } from './loader/read-text.ts';
import type { FoundFile, SkippedPath } from './loader/walk.ts';

export type FileText = ReturnType<typeof readText>;

/** Codes of a project's file that nobody has trusted, or not with this content. */
export const UNTRUSTED: ReadonlySet<string> = new Set(['untrusted', 'changed']);

export interface PlaceTextOptions extends Omit<ProjectFileRequest, 'path'> {
  readonly scope: string;
  /** Reads what lies in a project, where it is trusted. */
  readonly readProject: (request: ProjectFileRequest) => ProjectFileReading;
}

/** The text of a file in a place: under the project's trust where it lies in the project. */
export function placeText(
  { path, realPath }: FoundFile,
  { scope, readProject, ...request }: PlaceTextOptions,
): FileText {
  if (scope !== 'project') return readText(realPath);
  return projectText(readProject({ ...request, path }));
}

/** What a file of a project holds, if it may be used. */
export function projectText(reading: ProjectFileReading): FileText {
  switch (reading.kind) {
    case 'read':
      return agentText(reading.bytes);
    case 'untrusted': {
      const code = reading.verdict.state === 'new' ? 'untrusted' : 'changed';
      return { ok: false, code, reason: untrustedReason(reading.verdict) };
    }
    case 'refused':
      return { ok: false, code: reading.code, reason: reading.reason };
    case 'absent':
      return { ok: false, code: 'unreadable', reason: 'It was there just now, and is gone.' };
  }
}

/** Of a file that gives nothing: told as skipped, and where it is a fault of the file as a problem, too. */
export function refuse(
  problem: AgentProblem,
  { skipped, problems }: { readonly skipped: SkippedPath[]; readonly problems: AgentProblem[] },
): void {
  const { path, code, message } = problem;
  skipped.push({ path, code, reason: message });
  if (!UNTRUSTED.has(code)) problems.push(problem);
}
