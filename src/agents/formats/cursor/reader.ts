import type { FormatReader } from '../../loader/format.ts';
import { CLAUDE_MODES } from '../../fields/modes.ts';
import type { Dialect } from '../../fields/read-agent.ts';
import { readMarkdownAgent } from '../../fields/read-agent.ts';

/** Its fields are `name`, `description`, `model`, `readonly` and `is_background`; all may be absent. */
const CURSOR: Dialect = {
  vendor: 'cursor',
  modes: CLAUDE_MODES,
  limits: [],
  inactive: [],
  loadsBareText: true,
};

/** Cursor's `*.md` agents. */
export const cursorReader: FormatReader = { read: (file) => readMarkdownAgent(file, CURSOR) };
