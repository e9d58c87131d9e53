import { testSeries } from './series.ts';

testSeries(4, process.env['BMS_TEST_DEEP'] === undefined ? 10 : 50);
