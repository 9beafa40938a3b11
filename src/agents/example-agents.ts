/**
 * The agents that ship as example files and are not installed. The list is in its own module, because the command line
 * shows it without loading any agent.
 */
export const EXAMPLE_AGENTS = ['deepresearch', 'code'] as const;
