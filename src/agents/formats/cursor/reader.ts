import type { FormatReader } from '../../loader/format.ts';
import { readMarkdownAgent, type AgentDialect } from '../../fields/read-agent.ts';

/** The fields are `name`, `description`, `model`, `readonly` and `is_background`. All of them are optional. */
const CURSOR: AgentDialect = {
  vendor: 'cursor',
  loadsBareText: true,
};

/** Reads Cursor's `*.md` agents. */
export const cursorReader: FormatReader = { read: (file) => readMarkdownAgent(file, CURSOR) };
