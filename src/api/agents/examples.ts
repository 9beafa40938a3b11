export { EXAMPLE_AGENTS } from '../../agents/builtin.ts';
