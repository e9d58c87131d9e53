import { testHalf } from './schedules.ts';

testHalf(2);
