import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorMessage, systemErrorCode } from '../base/errors.ts';
import type { AgentProblem } from '../protocol/agent.ts';
import { projectRoot } from '../sys/project-directories.ts';
import { readBeside } from './loader/referenced-files.ts';
import { detectFormat } from './formats/detect.ts';
import type { LoadedAgents, TextBeside } from './loader/kind.ts';
import { readText } from './loader/read-text.ts';

/**
 * The agents of one file, of whatever vendor, wherever it lies: for a file that a person names. The
 * format is told by place, name and content. `path` is absolute; never throws for what is there.
 */
export async function agentsInFile(path: string): Promise<LoadedAgents> {
  const text = textOf(path);
  if (!text.ok) return failed({ code: text.code, message: text.reason, path });
  const format = detectFormat(path, text.text);
  if (format === undefined) {
    const message = 'It is of no format that agents are written in.';
    return failed({ code: 'not-an-agent', message, path });
  }
  const boundary = realPath(projectRoot(dirname(path)));
  const beside = (named: string): TextBeside => readBeside(named, boundary);
  return format.read({ path, scope: 'user', text: text.text, beside });
}

/** The whole text of an agent's file; null where it has none, or none that can be read. */
export function agentFileText(path: string): string | null {
  const text = textOf(path);
  return text.ok ? text.text : null;
}

function realPath(path: string): string {
  return realpathSync.native(path);
}

function textOf(path: string): ReturnType<typeof readText> {
  try {
    return readText(realPath(path));
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      return { ok: false, code: 'no-file', reason: 'There is no such file.' };
    }
    return { ok: false, code: 'unreadable', reason: `Cannot be read: ${errorMessage(error)}` };
  }
}

function failed(problem: AgentProblem): LoadedAgents {
  return { items: [], problems: [problem] };
}
