import { CLIENT_REPORTS } from './clients.ts';
import { ATTENTION_REPORTS } from './duplicates.ts';
import { PRODUCT_REPORTS } from './products.ts';
import { SHOP_REPORTS } from './shop.ts';
import { WORK_REPORTS } from './work.ts';
import { completeReport, type Report } from './report.ts';

/** Every report: assistants run them, and scripts/reports writes docs/reporting and deploy/superset from them. */
export const REPORTS: readonly Report[] = [
  ...CLIENT_REPORTS,
  ...PRODUCT_REPORTS,
  ...WORK_REPORTS,
  ...ATTENTION_REPORTS,
  ...SHOP_REPORTS,
].map(completeReport);
