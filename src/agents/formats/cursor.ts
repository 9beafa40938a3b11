import { join } from 'node:path';
import type { AgentFormat } from './format.ts';
import { CLAUDE_MODES } from './fields/modes.ts';
import { isMarkdown } from './muster.ts';
import type { Dialect } from './read-agent.ts';
import { readMarkdownAgent } from './read-agent.ts';

/** Its fields are `name`, `description`, `model`, `readonly` and `is_background`; all may be absent. */
const CURSOR: Dialect = {
  vendor: 'cursor',
  modes: CLAUDE_MODES,
  limits: [],
  inactive: [],
  loadsBareText: true,
};

/**
 * Cursor's `*.md` agents. It also reads those of Claude Code and the markdown that lies where Codex
 * keeps its own; the former are Claude Code's here, the latter nobody else's.
 */
export const cursorFormat: AgentFormat = {
  vendor: CURSOR.vendor,
  places: {
    project: ['.cursor/agents', '.codex/agents'],
    user: ({ home }) => [join(home, '.cursor', 'agents'), join(home, '.codex', 'agents')],
  },
  accepts: isMarkdown,
  read: (file) => readMarkdownAgent(file, CURSOR),
};
