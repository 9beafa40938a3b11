import { testFaults } from './matrix.ts';

testFaults('google');
