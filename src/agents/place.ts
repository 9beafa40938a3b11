import type { AgentFormat } from './loader/kind.ts';

/** Where to look. It need not exist. */
export interface Place {
  readonly format: AgentFormat;
  readonly scope: 'project' | 'user' | 'plugin';
  /** A directory, searched with all below it, or a single file. */
  readonly path: string;
  /** No file outside this directory is read, wherever a link leads. */
  readonly boundary: string;
}
