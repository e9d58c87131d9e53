import { testSeries } from './series.ts';

testSeries(1, 3);
