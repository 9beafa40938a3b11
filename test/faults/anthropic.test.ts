import { testFaults } from './matrix.ts';

testFaults('anthropic');
