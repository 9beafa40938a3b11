import { testFaults } from './matrix.ts';

testFaults('chat');
