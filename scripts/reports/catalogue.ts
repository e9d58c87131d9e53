import { join } from 'node:path';
import { CLIENT_REPORTS } from './catalogue/clients.ts';
import { ATTENTION_REPORTS } from './catalogue/duplicates.ts';
import { PRODUCT_REPORTS } from './catalogue/products.ts';
import { SHOP_REPORTS } from './catalogue/shop.ts';
import { WORK_REPORTS } from './catalogue/work.ts';
import type { Report } from './report.ts';

/** Where the reports, their plots, their page and the dbt project are. */
export const REPORTING = join(import.meta.dirname, '../../docs/reporting');

/** Every report and metric of docs/reporting and deploy/superset. */
export const REPORTS: readonly Report[] = [
  ...CLIENT_REPORTS,
  ...PRODUCT_REPORTS,
  ...WORK_REPORTS,
  ...ATTENTION_REPORTS,
  ...SHOP_REPORTS,
];
