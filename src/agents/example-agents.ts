/** The agents that ship as example files and are not installed. Separate, since the command line lists them without loading any agent. */
export const EXAMPLE_AGENTS = ['deepresearch', 'code'] as const;
