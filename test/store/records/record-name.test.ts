import { expect, test } from 'vitest';
import { recordName } from '../../../src/store/records/record-name.ts';

test.each([
  ['{"id":1,"code":"C-1","name":"Garage Roy","title":"x"}', 'C-1 · Garage Roy'],
  ['{"id":1,"code":"B-7","client_id":3,"pickup_date":"2026-03-02"}', 'B-7 · 2026-03-02'],
  ['{"id":1,"code":"","name":null,"date":"2026-03-02"}', '2026-03-02'],
  ['[]', ''],
  [null, ''],
])('%j is named %j', (text, name) => {
  expect(recordName(text)).toBe(name);
});
