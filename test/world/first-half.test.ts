import { testHalf } from './halves.ts';

testHalf(1);
