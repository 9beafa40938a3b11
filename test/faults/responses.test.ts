import { testFaults } from './matrix.ts';

testFaults('responses');
