export { EXAMPLE_AGENTS } from '../../agents/example-agents.ts';
