export { EXAMPLE_AGENTS } from '../../agents/examples.ts';
